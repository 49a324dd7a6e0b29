import { longer, type RunningHandler, type SlotUsage } from '../consumer/activity.js';
import { type QueueDirectory, REGISTRATION_VALID, type Registration } from '../store/queue-directory.js';
import type { CancelTimer, Clock } from '../timing/clock.js';
import { CoalescedTask } from '../timing/coalesced-task.js';
import { failurePause } from '../timing/pauses.js';
import { type CallStreak, FamilyMember, type MemberSource, Semaphore } from './family-member.js';

/** What remains in a queue without work for this process: `messages` for others, something `else`, such as dead letters, or `nothing`. */
export type QueueRemains = 'messages' | 'else' | 'nothing';

/** A registration, and when this process first saw it, on the monotonic clock. */
interface Sighting extends Registration {
  readonly since: number;
}

/**
 * The maximum number of concurrent looks and visits: enough to keep Redis busy over a slow network, but few enough that other clients wait
 * no longer than for one batch of a transfer.
 */
const CONCURRENT_LOOKS = 64;

/** How long the first reading of the directory waits for the subscription, ms. Announcements made before the subscription are missed. */
const LISTENING_GRACE = 1000;

/**
 * The queues of one family, in one process.
 *
 * The first message of an empty queue is always announced, so a subscription to the announcements of all queues reports it at once.
 * Announcements can be lost, so the directory is read whenever the subscription starts or restarts, and at least every `checkInterval`.
 * Each registered queue that is not awake is then looked at. An empty queue is retired from the directory once nobody can rely on its
 * registration, so empty queues cost nothing here, however many there are.
 */
export class Family {
  readonly #members = new Map<string, FamilyMember>();
  readonly #looks = new Semaphore(CONCURRENT_LOOKS);
  /** Sightings by queue, from the last reading of the directory. */
  #sightings: ReadonlyMap<string, Sighting> = new Map();
  #unwatch: (() => void) | undefined;
  #cancelReading: CancelTimer | undefined;
  /** Reads the directory. Yields the time until the next reading, ms. */
  readonly #readings = new CoalescedTask(
    () => this.#readDirectory(),
    (next) => this.#readIn(next),
  );
  #failures = 0;
  #stopped = false;

  constructor(
    private readonly options: {
      /** The family's pattern: the beginning of its queues' names, followed by `*`. */
      readonly name: string;
      /** True if messages of the family's queues may have groups. Default: false. */
      readonly hasGroups?: boolean;
      /** True if this family handles the queue, rather than the queue's own handler or another family. */
      readonly has: (queue: string) => boolean;
      readonly directory: QueueDirectory;
      /** Returns what remains in a queue in which nothing was found. */
      readonly remainsOf: (queue: string) => Promise<QueueRemains>;
      readonly source: MemberSource;
      readonly clock: Clock;
      readonly streak: CallStreak;
      /** Returns a number from 0 to 1, for jitter. */
      readonly random?: () => number;
      /** The maximum time between readings of the directory, ms. */
      readonly checkInterval: number;
    },
  ) {}

  /** Number of messages that are claimed, being handled, or not settled yet. */
  get held(): number {
    return this.#all().reduce((sum, { held }) => sum + held, 0);
  }

  /** The slots of all queues that are awake or being looked at. */
  get usage(): SlotUsage {
    let [slots, used] = [0, 0];
    let longest: RunningHandler | undefined;
    for (const { usage } of this.#members.values()) {
      if (!usage) continue;
      slots += usage.slots;
      used += usage.used;
      longest = longer(longest, usage.longest);
    }
    return { slots, used, longest };
  }

  start(): void {
    const { name, hasGroups = false, directory, has } = this.options;
    this.#unwatch = directory.watch(
      { name, hasGroups },
      {
        onEarlierDue: (queue, dueIn) => has(queue) && !this.#stopped && this.#member(queue).expect(dueIn),
        onAbort: (queue, claim) => this.#members.get(queue)?.abort(claim),
        onListening: () => this.#read(),
      },
    );
    this.#readIn(LISTENING_GRACE);
  }

  /** Stops everything except running handlers and the settling of their outcomes. */
  async stopClaiming(): Promise<void> {
    this.#stopped = true;
    this.#cancelReading?.();
    await Promise.all([this.#readings.stop(), ...this.#all().map((member) => member.stopClaiming())]);
  }

  async drained(): Promise<void> {
    await Promise.all(this.#all().map((member) => member.drained()));
  }

  /** Aborts the signals of handlers that are still running. */
  abortHandlers(): void {
    for (const member of this.#all()) member.abortHandlers();
  }

  /** Stops settling and extending leases. Messages still held become ready when their leases end. */
  abandon(): void {
    this.#unwatch?.();
    for (const member of this.#all()) member.abandon();
  }

  #all(): FamilyMember[] {
    return [...this.#members.values()];
  }

  #member(queue: string): FamilyMember {
    const known = this.#members.get(queue);
    if (known) return known;
    const { source, clock, streak } = this.options;
    const member = new FamilyMember(queue, {
      source,
      clock,
      looks: this.#looks,
      streak,
      onEmpty: () => this.#members.delete(queue),
    });
    this.#members.set(queue, member);
    return member;
  }

  #read(): void {
    if (!this.#stopped) this.#readings.request();
  }

  async #readDirectory(): Promise<number> {
    const { checkInterval, random = Math.random, streak } = this.options;
    try {
      await this.#readOnce();
      this.#failures = 0;
      streak.worked();
      // Shortened by up to a quarter, so that processes read at different times.
      return checkInterval * (1 - random() / 4);
    } catch (error) {
      if (!this.#stopped) streak.callFailed(error);
      return Math.min(failurePause(++this.#failures), checkInterval);
    }
  }

  #readIn(delay: number): void {
    this.#cancelReading?.();
    if (!this.#stopped) this.#cancelReading = this.options.clock.schedule(() => this.#read(), delay);
  }

  async #readOnce(): Promise<void> {
    const { name, directory, has } = this.options;
    const sightings = new Map<string, Sighting>();
    let cursor: string | undefined;
    do {
      const part = await directory.listRegistered(name, cursor);
      const own = part.registrations.filter(({ queue }) => has(queue)).map((each) => this.#sighted(each));
      for (const sighting of own) sightings.set(sighting.queue, sighting);
      await Promise.all(own.map((sighting) => this.#lookAt(sighting)));
      cursor = part.cursor ?? undefined;
    } while (cursor !== undefined && !this.#stopped);
    this.#sightings = sightings;
    await this.#registerMissing();
  }

  #sighted(registration: Registration): Sighting {
    const known = this.#sightings.get(registration.queue);
    return known?.stamp === registration.stamp ? known : { ...registration, since: this.options.clock.monotonic() };
  }

  /** Looks at a queue that is not awake, and retires it if it is empty and was last registered over {@link REGISTRATION_VALID} ms ago. */
  async #lookAt({ queue, stamp, since }: Sighting): Promise<void> {
    if (this.#stopped) return;
    const emptyAt = await this.#member(queue).look();
    if (emptyAt === undefined || emptyAt - since < REGISTRATION_VALID || this.#stopped) return;
    const { directory, remainsOf } = this.options;
    const remains = await remainsOf(queue);
    if (remains !== 'messages') await directory.retire({ queue, stamp }, remains === 'else' ? 'kept' : 'forgotten');
  }

  /** Registers queues that would not be found after a restart, because their registrations were lost or never made. */
  async #registerMissing(): Promise<void> {
    const missing = this.#all().filter(({ queue }) => !this.#sightings.has(queue));
    for (const { queue } of missing) {
      if (this.#stopped) return;
      await this.options.directory.register(queue);
    }
  }
}
