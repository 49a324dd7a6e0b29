import type { DelayQueueProducer } from '../../../lib/index.js';
import { ownAttemptsOf, type Scenario } from '../applications/scenario.js';
import { type Chance, pick } from '../world/chance.js';
import type { World } from '../world/world.js';
import type { Running } from './workload.js';

/** The number of the first message that repeats. No other has so high a one. */
export const FIRST_RULE = 1e9;

/** The number of messages that repeat. */
const RULES = 4;

/** The seconds between two occurrences. */
const PERIODS = [2, 3, 5, 10, 20, 30] as const;

/** Where the seconds are counted. */
const ZONES = ['UTC', 'Asia/Kathmandu', 'America/New_York', 'Australia/Lord_Howe'] as const;

/** The longest period, and what a process may lag behind, ms. */
export const MAX_PERIOD = 31_000;

/** The time for which a call that has failed waits before it is made again, ms. */
const PAUSE = 500;

/** The longest time until somebody changes a rule, ms. */
const MAX_REST = 40_000;

export interface RulesOptions {
  readonly world: World;
  readonly scenario: Scenario;
  readonly choose: (chance: Chance) => Running | undefined;
  /** True once the messages must no longer repeat. */
  readonly isOver: () => boolean;
}

/** Messages that repeat, whose rules change, and which all end at last. */
export class Rules {
  #left = 0;
  /** How many calls about each message may still take effect. */
  readonly #underWay = new Map<number, number>();
  readonly #chance: Chance;

  constructor(private readonly options: RulesOptions) {
    this.#chance = options.world.chance('rules');
  }

  get areDone(): boolean {
    return this.#left === 0;
  }

  start(): void {
    if (!this.options.scenario.queues.some(({ kind }) => kind === 'repeats')) return;
    this.#left = RULES;
    for (let i = 0; i < RULES; i++) this.#change(FIRST_RULE + i);
  }

  #change(number: number): void {
    const { world, isOver } = this.options;
    if (isOver()) return this.#end(number);
    const draw = this.#chance;
    const period = pick(draw, PERIODS);
    const timeZone = pick(draw, ZONES);
    const isCancelled = draw() < 0.15;
    const rest = MAX_REST * draw();
    this.#call(number, (producer) =>
      isCancelled
        ? producer.cancel('repeats', `m${number}`)
        : producer.repeat(
            'repeats',
            `m${number}`,
            { cron: `*/${period} * * * * *`, timeZone, attempts: ownAttemptsOf(number) },
            number,
          ),
    );
    world.after(rest, () => this.#change(number));
  }

  /** Cancels it until it is gone: an occurrence that is due is still handled. */
  #end(number: number): void {
    const id = `m${number}`;
    const { world } = this.options;
    let isGone = false;
    const isLast = !this.#underWay.get(number);
    this.#call(number, async (producer) => {
      await producer.cancel('repeats', id);
      isGone = (await producer.find('repeats', id)) === null;
    });
    world.after(PAUSE, () => {
      if (isGone && isLast) this.#left--;
      else this.#end(number);
    });
  }

  #call(number: number, call: (producer: DelayQueueProducer) => Promise<unknown>): void {
    const { world, choose, scenario } = this.options;
    const running = choose(this.#chance);
    if (!running) return;
    const { process, application } = running;
    const count = (by: number) => void this.#underWay.set(number, (this.#underWay.get(number) ?? 0) + by);
    count(1);
    // What a process has sent before its death may still arrive.
    const forgetDeath = process.onDeath(() => world.after(2 * scenario.callTimeout, () => count(-1)));
    const end = () => {
      forgetDeath();
      count(-1);
    };
    world.at(world.now, () => void call(application.producer).then(end, end), process);
  }
}
