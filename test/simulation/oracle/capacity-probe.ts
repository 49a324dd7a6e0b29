import type { Conduct } from '../applications/conduct.js';
import { type QueueTraits, type Release, type Scenario, scaled, TYPES } from '../applications/scenario.js';
import { producerOf, type Running } from '../workload/calls.js';
import type { World } from '../world/world.js';
import { WAIT_GRACE } from '../network/remote-store.js';
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

/** How often messages that expire may come too late. */
const MAX_FAILURES = 4;

/** The number of queues of a family that are probed: all of them are served alike. */
const PROBED_TENANTS = 4;

/** More messages than this are not needed to see that a slot is missing. */
const MAX_PROBES = 400;

/**
 * When everything is drained, offers as many messages as all processes can handle at once, whose handlers wait for each other: if one
 * does not start, somebody has lost a slot. Then the same for the permits of groups.
 */
export class CapacityProbe {
  /** Half the number of the next message: even ones have the type that every release handles. */
  #half: number;
  #started = 0;
  #release: () => void = () => undefined;
  #released: Promise<void> = Promise.resolve();

  constructor(private readonly options: CapacityProbeOptions) {
    this.#half = Math.ceil(options.firstNumber / 2);
  }

  /** What a handler does with a message of the probe. */
  start(): Conduct {
    this.#started++;
    return { takes: 0, spins: 0, end: 'return', delay: 0, until: this.#released };
  }

  async run(): Promise<void> {
    const { scenario, oracle } = this.options;
    const tenants = scenario.queues.filter(({ kind }) => kind === 'tenant');
    const unprobed = new Set(tenants.slice(PROBED_TENANTS));
    for (const traits of scenario.queues) {
      if (unprobed.has(traits)) continue;
      const capacity = Math.min(oracle.capacityOf(traits), oracle.limitsOf(traits.name).current.globalConcurrency);
      // Calls with fewer messages than a batch has would leave slots empty for good reason.
      const isSingle = traits.capacity === traits.concurrency;
      if (isSingle && capacity <= MAX_PROBES) {
        await this.#fill(traits, capacity, (i) => (traits.permits === null ? undefined : `probe-${i}`));
      }
      await this.#fillGroups(traits, oracle.groupsOf(traits.name));
    }
  }

  /** As many groups at a time as there are slots for. */
  async #fillGroups(traits: QueueTraits, groups: readonly GroupUse[]): Promise<void> {
    const { permits } = traits;
    if (permits === null) return;
    // One process alone may claim all, and a call has messages of one group.
    const calls = Math.min(...[0, 1].map((release) => scaled(traits.concurrency, release as Release)));
    const together = Math.floor(calls / permits);
    if (together === 0) return;
    for (let at = 0; at < groups.length; at += together) {
      const names = groups.slice(at, at + together).map(({ name }) => name);
      await this.#fill(traits, names.length * permits, (i) => names[Math.floor(i / permits)]);
    }
  }

  async #fill(
    traits: QueueTraits,
    count: number,
    groupOf: (i: number) => string | undefined,
    failures = 0,
  ): Promise<void> {
    const { world, scenario, oracle, running } = this.options;
    this.#started = 0;
    this.#released = new Promise((resolve) => (this.#release = resolve));
    const first = `m${2 * this.#half}`;
    const requests = Array.from({ length: count }, (_, i) => {
      const group = groupOf(i);
      const type = traits.kind === 'typed' ? { type: TYPES[0] } : {};
      const number = 2 * this.#half++;
      return { id: `m${number}`, payload: number, delay: 0, ...type, ...(group !== undefined && { group }) };
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
      // A worker of a family's queue that stops first awaits its wait, which may have been silent since the last fault.
      (traits.kind === 'tenant' ? scenario.blockTimeout + WAIT_GRACE : 0) +
      (traits.groupRate ? 2 * traits.groupRate.per : 0) +
      (traits.kind === 'rated' ? 2000 * Math.ceil(count / oracle.limitsOf(traits.name).current.rate) : 0);
    await this.#until(() => this.#started >= count, patience);
    // After false announcements nobody expects to be the first, and the first messages come too late to be handled.
    if (this.#started < count && traits.expiresAfter !== null && failures < MAX_FAILURES) {
      this.#release();
      return this.#fill(traits, count, groupOf, failures + 1);
    }
    if (this.#started < count) {
      const of =
        groupOf(0) === undefined ? 'slots' : `slots and permits of groups ${groupOf(0)} to ${groupOf(count - 1)}`;
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
