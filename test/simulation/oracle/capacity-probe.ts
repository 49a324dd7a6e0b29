import type { Conduct } from '../applications/conduct.js';
import type { QueueTraits, Scenario } from '../applications/scenario.js';
import { producerOf, type Running } from '../workload/workload.js';
import type { World } from '../world/world.js';
import type { GroupUse } from './group-use.js';
import type { Oracle } from './oracle.js';

export interface CapacityProbeOptions {
  readonly world: World;
  readonly scenario: Scenario;
  readonly oracle: Oracle;
  readonly running: readonly Running[];
  /** The first number that no other message has. */
  readonly firstNumber: number;
}

/** How long it takes at most until all slots or permits are in use, ms, besides what a rate and batches take. */
const PATIENCE = 5000;

/** More messages than this are not needed to see that a slot is missing. */
const MAX_PROBES = 400;

/**
 * When everything is drained, offers as many messages as all processes can handle at once, whose handlers wait for each other: if one
 * does not start, somebody has lost a slot. Then the same for the permits of groups.
 */
export class CapacityProbe {
  #number: number;
  #started = 0;
  #release: () => void = () => undefined;
  #released: Promise<void> = Promise.resolve();

  constructor(private readonly options: CapacityProbeOptions) {
    this.#number = options.firstNumber;
  }

  /** What a handler does with a message of the probe. */
  start(): Conduct {
    this.#started++;
    return { takes: 0, spins: 0, end: 'return', delay: 0, until: this.#released };
  }

  async run(): Promise<void> {
    const { scenario, oracle, running } = this.options;
    for (const traits of scenario.queues) {
      const capacity = running.length * traits.capacity;
      // Calls with fewer messages than a batch has would leave slots empty for good reason.
      const isSingle = traits.capacity === scenario.concurrency;
      if (isSingle && capacity <= MAX_PROBES) {
        await this.#fill(traits, capacity, (i) => (traits.permits === null ? undefined : `probe-${i}`));
      }
      const groups = oracle
        .groupsOf(traits.name)
        .filter(({ permits }) => permits <= running.length * scenario.concurrency);
      for (const group of groups) await this.#fillGroup(traits, group);
    }
  }

  #fillGroup(traits: QueueTraits, { permits, name }: GroupUse): Promise<void> {
    return this.#fill(traits, permits, () => name);
  }

  async #fill(
    traits: QueueTraits,
    count: number,
    groupOf: (i: number) => string | undefined,
    isSecond = false,
  ): Promise<void> {
    const { world, scenario, oracle, running } = this.options;
    this.#started = 0;
    this.#released = new Promise((resolve) => (this.#release = resolve));
    const first = `m${this.#number}`;
    const requests = Array.from({ length: count }, (_, i) => {
      const group = groupOf(i);
      return { id: `m${this.#number++}`, payload: 0, delay: 0, ...(group !== undefined && { group }) };
    });
    const [{ application, process }] = running as [Running];
    const offered = new Promise<void>((resolve) => {
      const offer = () => producerOf(application, traits).offerMany(traits.name, requests);
      // The last fault may not be over.
      const attempt = () => void offer().then(() => resolve(), again);
      const again = () => void world.after(1000, () => world.at(world.now, attempt, process));
      world.at(world.now, attempt, process);
    });
    await offered;
    // False announcements are forgotten by the next check.
    const patience =
      PATIENCE +
      scenario.checkInterval +
      scenario.batchWait +
      (traits.kind === 'rated' ? 2000 * Math.ceil(count / scenario.rate.max) : 0);
    await this.#until(() => this.#started >= count, patience);
    // After false announcements nobody expects to be the first, and the first messages come too late to be handled.
    if (this.#started === 0 && traits.expiresAfter !== null && !isSecond)
      return this.#fill(traits, count, groupOf, true);
    if (this.#started < count) {
      const of = groupOf(0) === undefined || groupOf(0) !== groupOf(1) ? 'slots' : `permits of ${groupOf(0)}`;
      oracle.violate('capacity', first, `${traits.name}: ${this.#started} of ${count} ${of} can be used`);
    }
    this.#release();
    await this.#until(() => oracle.inQueues === 0, PATIENCE);
  }

  /** Waits until something is so, or for so many ms. */
  #until(isSo: () => boolean, ms: number): Promise<void> {
    const { world } = this.options;
    const end = world.now + ms;
    return new Promise((resolve) => {
      const look = () => {
        if (isSo() || world.now > end) resolve();
        else world.after(5, look);
      };
      look();
    });
  }
}
