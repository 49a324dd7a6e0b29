import type { DelayQueueProducer } from '../../../lib/index.js';
import { drawQueue, type QueueTraits, type Scenario } from '../applications/scenario.js';
import type { Oracle } from '../oracle/oracle.js';
import { type Chance, integer, pick } from '../world/chance.js';
import type { World } from '../world/world.js';
import { type Calls, PAUSE, producerOf } from './calls.js';

export interface AdministratorOptions {
  readonly world: World;
  readonly scenario: Scenario;
  readonly oracle: Oracle;
  readonly chance: Chance;
  readonly calls: Calls;
  /** True once all messages are offered. */
  readonly isOver: () => boolean;
  /** Offers so many messages to a queue at once, unless too few are left. */
  readonly offerAtOnce: (traits: QueueTraits, count: number) => void;
}

/** The longest time between two things that the administrator does, ms. */
const MAX_REST = 8000;

/** The longest time for which somebody changes something, and limits, ms. */
const MAX_CHANGED = 6000;
const MAX_LIMITED = 20_000;

/** How long after limits were set many messages come at once, ms, again and again, and how many. */
const MANY_AFTER = [400, 1100, 1800, 2500];
const MANY = 12;

/** A rate that these messages exceed. */
const FEW = 5;

/** A change that somebody makes and undoes after a while. */
interface TemporaryChange {
  readonly traits: QueueTraits;
  /** Of what it changes: two changes of the same are undone only when neither may take effect any more. */
  readonly name: string;
  make(producer: DelayQueueProducer): Promise<void>;
  undo(producer: DelayQueueProducer): Promise<unknown>;
  isInForce(): boolean;
}

/** Somebody who pauses queues and groups, sets limits, clears queues and looks after dead letters. */
export class Administrator {
  /** What calls may still change for a while, one for each call. */
  readonly #changingForAWhile: string[] = [];

  constructor(private readonly options: AdministratorOptions) {}

  /** Does something from time to time, until all messages are offered. */
  start(): void {
    const { world, chance, isOver } = this.options;
    world.after(MAX_REST * chance(), () => {
      if (isOver()) return;
      this.#actOnce();
      this.start();
    });
  }

  /** Whoever has resumed a queue does so again: the server may have forgotten it. */
  resumeAll(): void {
    const { oracle, calls } = this.options;
    const paused = oracle.paused.map((traits) => this.#pauseOf(traits));
    const changed = oracle.changedGroups.map(({ traits, name }) => this.#changeOf(traits, name));
    for (const change of [...paused, ...changed]) {
      calls.pending++;
      this.#undo(change);
    }
  }

  /** Undoes a change. It may take effect after a first attempt to undo it: its process was frozen. */
  #undo(change: TemporaryChange): void {
    const { world, calls } = this.options;
    const running = calls.choose();
    const later = () => world.after(PAUSE, () => this.#undo(change));
    if (!running) return void later();
    const undo = () => {
      let isInForce = true;
      const call = async (producer: DelayQueueProducer) => {
        await change.undo(producer);
        isInForce = change.isInForce() || this.#changingForAWhile.includes(change.name);
      };
      void calls.repeat(running, call, change.traits).then(() => {
        if (isInForce) later();
        else calls.pending--;
      });
    };
    calls.run(running, undo, later);
  }

  #pauseOf(traits: QueueTraits): TemporaryChange {
    const { name } = traits;
    return {
      ...{ traits, name },
      make: (producer) => producer.pause(name),
      undo: (producer) => producer.resume(name),
      isInForce: () => this.options.oracle.isPaused(name),
    };
  }

  /** Pauses a group, or changes its concurrency. */
  #changeOf(traits: QueueTraits, group: string): TemporaryChange {
    const { oracle, chance } = this.options;
    const concurrency = pick<number | 'unlimited'>(chance, [1, 2, 5, traits.groupRate ? 10 : 'unlimited']);
    const pauses = chance() < 0.5;
    return {
      ...{ traits, name: `${traits.name} ${group}` },
      make: (producer) => {
        const of = producer.group(traits.name, group);
        return pauses ? of.pause() : of.setConcurrency(concurrency);
      },
      undo: async (producer) => {
        await producer.group(traits.name, group).setConcurrency('default');
        await producer.group(traits.name, group).resume();
      },
      isInForce: () =>
        oracle.changedGroups.some(({ traits: { name }, name: of }) => name === traits.name && of === group),
    };
  }

  /** Pauses a queue for a while, or changes one of its groups. */
  pause(traits: QueueTraits): void {
    const { chance, scenario } = this.options;
    const isOfGroup = traits.permits !== null && chance() < 0.6;
    const group = `g${integer(chance, 0, scenario.groups - 1)}`;
    this.#changeForAWhile(isOfGroup ? this.#changeOf(traits, group) : this.#pauseOf(traits));
  }

  /** Sets other limits for a while. From when all processes must know them, more messages come than they may allow. */
  #limit(traits: QueueTraits): void {
    const { world, offerAtOnce } = this.options;
    this.#changeForAWhile(this.#limitsOf(traits), MAX_LIMITED);
    for (const after of MANY_AFTER) world.after(after, () => offerAtOnce(traits, MANY));
  }

  #limitsOf(traits: QueueTraits): TemporaryChange {
    const { chance: draw, scenario, oracle } = this.options;
    const { name } = traits;
    const { max, per } = scenario.rate;
    const limits =
      traits.kind === 'rated'
        ? { rate: { max: pick(draw, [FEW, integer(draw, Math.ceil(max / 2), 2 * max)]), per } }
        : { globalConcurrency: pick<number | 'unlimited'>(draw, [1, 2, 4, 20, 'unlimited']) };
    return {
      ...{ traits, name: `limits of ${name}` },
      make: (producer) => producer.limits(name).set(limits, { by: 'the workload' }),
      undo: (producer) => producer.limits(name).reset(),
      isInForce: () => oracle.limitsOf(name).areSet,
    };
  }

  #changeForAWhile(change: TemporaryChange, longest = MAX_CHANGED): void {
    const { world, scenario, calls, chance } = this.options;
    const running = calls.choose();
    const length = longest * chance() ** 2;
    if (!running) return;
    // Somebody undoes it, whatever happens to the one that has made it.
    calls.pending++;
    const { name, traits } = change;
    const changing = this.#changingForAWhile;
    changing.push(name);
    world.after(length, () => this.#undo(change));
    // A call of unknown outcome may still arrive.
    const end = () => void world.after(2 * scenario.callTimeout, () => changing.splice(changing.indexOf(name), 1));
    const forgetDeath = running.process.onDeath(end);
    calls.run(running, () => {
      void change
        .make(producerOf(running.application, traits))
        .catch(() => undefined)
        .then(() => {
          forgetDeath();
          end();
        });
    });
  }

  #actOnce(): void {
    const { chance: draw, scenario, calls } = this.options;
    const traits = drawQueue(draw, scenario.queues);
    const kind = draw();
    const hasLimits = traits.kind === 'rated' || traits.kind === 'limited';
    if (hasLimits && draw() < 0.85) return this.#limit(traits);
    if (kind < 0.4) return this.pause(traits);
    const running = calls.choose();
    if (!running) return;
    calls.run(running, () => {
      const producer = producerOf(running.application, traits);
      const letters = producer.deadLetters(traits.name);
      const ofOne = async (call: (id: string) => Promise<boolean>) => {
        const { messages } = await producer.list(traits.name, 'dead', { limit: 3 });
        for (const { id } of messages) await call(id);
      };
      const call = (): Promise<unknown> => {
        if (kind < 0.5) return producer.clear(traits.name);
        if (kind < 0.62) return ofOne((id) => letters.redrive(id));
        if (kind < 0.75) return letters.redriveAll();
        return kind < 0.9 ? ofOne((id) => letters.discard(id)) : letters.discardAll();
      };
      void call().catch(() => undefined);
    });
  }
}
