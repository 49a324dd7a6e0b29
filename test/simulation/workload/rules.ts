import type { DelayQueueProducer, RepeatOptions } from '../../../lib/index.js';
import { ownAttemptsOf, type Scenario } from '../applications/scenario.js';
import { type Chance, integer, pick } from '../world/chance.js';
import type { World } from '../world/world.js';
import { type CallsOptions, PAUSE } from './calls.js';

/** The number of the first message that repeats. No other has so high a one. */
export const FIRST_RULE = 1e9;

/** The number of messages that repeat. */
const RULES = 6;

/** The seconds between two occurrences. */
const PERIODS = [2, 3, 5, 10, 20, 30] as const;

/** Where the seconds are counted. */
const ZONES = ['UTC', 'Asia/Kathmandu', 'America/New_York', 'Australia/Lord_Howe'] as const;

/** The longest time between two occurrences of a calendar, ms. */
export const MAX_PERIOD = 30_000;

/** How far from now a rule begins at most, before or after, and how soon it ends, ms. */
const MAX_BOUND = 60_000;

/** What somebody does to a rule, and how often: otherwise, the rule changes. */
const ACTIONS = [
  { share: 0.12, act: (producer: DelayQueueProducer, id: string) => producer.cancel('repeats', id) },
  { share: 0.2, act: (producer: DelayQueueProducer, id: string) => producer.repeats('repeats').pause(id) },
  { share: 0.2, act: (producer: DelayQueueProducer, id: string) => producer.repeats('repeats').resume(id) },
] as const;

/** The longest time until somebody changes a rule, ms. */
const MAX_REST = 20_000;

export interface RulesOptions {
  readonly world: World;
  readonly scenario: Scenario;
  readonly choose: CallsOptions['choose'];
  /** The time by the clock of the server, ms since 1970. */
  readonly time: () => number;
  /** False: what happens now may get lost. */
  readonly isReplicating: () => boolean;
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
    const rule = this.#rule();
    let left = draw();
    const action = ACTIONS.find(({ share }) => (left -= share) < 0);
    const rest = MAX_REST * draw();
    this.#call(number, (producer) =>
      action
        ? action.act(producer, `m${number}`)
        : producer.repeat('repeats', `m${number}`, { ...rule, attempts: ownAttemptsOf(number) }, number),
    );
    world.after(rest, () => this.#change(number));
  }

  /** A calendar or an interval, with or without bounds. */
  #rule(): RepeatOptions {
    const draw = this.#chance;
    const period = pick(draw, PERIODS);
    const timeZone = pick(draw, ZONES);
    const every = period * 1000 + integer(draw, 0, 999);
    const [starts, ends, limit] = [draw(), draw(), integer(draw, 1, 12)];
    const now = this.options.time();
    const times = draw() < 0.5 ? { cron: `*/${period} * * * * *`, timeZone } : { every };
    return {
      ...times,
      missed: pick(draw, ['once', 'once', 'skip', 'each'] as const),
      ...(starts < 0.2 && { startsAt: new Date(now + (starts * 10 - 1) * MAX_BOUND) }),
      ...(ends < 0.2 && { endsAt: new Date(now + MAX_BOUND * ends * 5) }),
      ...(draw() < 0.25 && { limit }),
    };
  }

  /** Cancels it until it is gone for good: an occurrence that is due is still handled, and a failover may undo what was done just before. */
  #end(number: number): void {
    const id = `m${number}`;
    const { world, isReplicating } = this.options;
    let isGone = false;
    const isLast = !this.#underWay.get(number);
    this.#call(number, async (producer) => {
      const isKept = isReplicating();
      await producer.cancel('repeats', id);
      isGone = (await producer.find('repeats', id)) === null && isKept && isReplicating();
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
