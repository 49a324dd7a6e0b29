import type { SimulatedProcess } from '../world/simulated-process.js';
import { isOfFamily, type QueueTraits, type Release, scaled } from '../applications/scenario.js';
import { Holding } from './delivery.js';

/** What a trouble may keep a process from: claiming in time, keeping its leases, and hearing what is announced. */
export type Concern = 'claims' | 'leases' | 'announcements';

export const ALL_CONCERNS: readonly Concern[] = ['claims', 'leases', 'announcements'];

/** The number of troubles that are remembered, of each process and concern. */
const MAX_TROUBLES = 8;

/** Something that was wrong, ms of the world. */
interface Trouble {
  readonly from: number;
  until: number;
}

/** The times at which something was wrong with a process, in one respect. */
class Troubles {
  #latest: Trouble[] = [];
  /** The end of those that are not remembered, ms of the world. */
  #forgottenUntil = -Infinity;

  add(from: number, until: number): void {
    const last = this.#latest.at(-1);
    if (last && last.until >= from) last.until = Math.max(last.until, until);
    else this.#latest.push({ from, until });
    if (this.#latest.length > MAX_TROUBLES) this.#forgottenUntil = this.#latest.shift()!.until;
  }

  get until(): number {
    return this.#latest.at(-1)?.until ?? -Infinity;
  }

  /** The longest time between two instants in which nothing was wrong, as far as is remembered, and nothing of the others, ms. */
  longestWithout(from: number, to: number, others: readonly Troubles[]): number {
    let since = Math.max(from, this.#forgottenUntil, ...others.map((each) => each.#forgottenUntil));
    let longest = 0;
    const ofOthers = others.flatMap((each) => each.#latest);
    const all = [...this.#latest, ...ofOthers].sort((one, other) => one.from - other.from);
    for (const trouble of all) {
      longest = Math.max(longest, Math.min(trouble.from, to) - since);
      since = Math.max(since, trouble.until);
    }
    return Math.max(longest, to - since);
  }
}

const troublesOf = (): Readonly<Record<Concern, Troubles>> => ({
  claims: new Troubles(),
  leases: new Troubles(),
  announcements: new Troubles(),
});

/** A process, as the oracle sees it. */
export class Member {
  /** Since when its handlers run, ms of the world. */
  servesSince = Infinity;
  isStopping = false;
  /** ms of the world. */
  readonly joinedAt: number;
  /** The time at which it has recovered from its last trouble, ms of the world; this may lie ahead. */
  #wellFrom = -Infinity;
  /** The same for each concern. */
  readonly #troubles = troublesOf();
  /** Troubles that concern one queue alone. */
  readonly #troublesOfQueues = new Map<string, Readonly<Record<Concern, Troubles>>>();
  /** The times at which no queue of the family was looked for. */
  readonly #unreadFamily = new Troubles();
  /** The time until which a look at some queue of the family may be held up, ms of the world. */
  #looksUntil = -Infinity;
  readonly #holdings = new Map<QueueTraits, Holding>();

  constructor(
    readonly process: SimulatedProcess,
    readonly release: Release,
  ) {
    this.joinedAt = process.world.now;
  }

  /**
   * Something goes wrong, and is over by then.
   *
   * @param queue - undefined: it concerns all queues
   */
  troubledUntil(at: number, concerns: readonly Concern[], queue: string | undefined): void {
    this.#wellFrom = Math.max(this.#wellFrom, at);
    let troubles = this.#troubles;
    if (queue !== undefined) {
      troubles = this.#troublesOfQueues.get(queue) ?? troublesOf();
      this.#troublesOfQueues.set(queue, troubles);
    }
    for (const concern of concerns) troubles[concern].add(this.process.world.now, at);
    if (queue !== undefined && isOfFamily(queue)) this.#looksUntil = Math.max(this.#looksUntil, at);
    this.#noteUnreadFamily();
  }

  /**
   * Who was deaf reads the directory of the family, which waits until the reading before has ended, with a look at each queue: one that is
   * held up keeps all others waiting.
   */
  #noteUnreadFamily(): void {
    const { now } = this.process.world;
    const isDeaf = this.#troubles.announcements.until > now;
    if (isDeaf && this.#looksUntil > now) this.#unreadFamily.add(now, this.#looksUntil);
  }

  /** Since when no trouble has concerned this, and its handlers have run; Infinity: one does. */
  unhinderedSince(concern: Concern, queue: string, now: number): number {
    return this.#since(this.unhinderedFrom(concern, queue), now);
  }

  /** The time at which the latest trouble that concerns this ends, or has ended. */
  unhinderedFrom(concern: Concern, queue: string): number {
    const ofQueue = this.#troublesOfQueues.get(queue)?.[concern].until ?? -Infinity;
    return Math.max(this.#troubles[concern].until, ofQueue);
  }

  /** The longest time between two instants in which no trouble concerned this, and its handlers ran, ms; 0 if it stops. */
  longestUnhindered(concern: Concern, queue: string, since: number, now: number): number {
    if (this.isStopping || this.process.isDead) return 0;
    const ofQueue = this.#troublesOfQueues.get(queue)?.[concern];
    const others = [ofQueue, isOfFamily(queue) ? this.#unreadFamily : undefined].filter((each) => each !== undefined);
    return this.#troubles[concern].longestWithout(Math.max(since, this.servesSince), now, others);
  }

  /** Since when nothing has been wrong, and its handlers have run; Infinity: something is. */
  wellSince(now: number): number {
    return this.#since(this.#wellFrom, now);
  }

  /** The time at which the latest trouble ends, or has ended. */
  get wellFrom(): number {
    return this.#wellFrom;
  }

  get hasRunningHandlers(): boolean {
    return [...this.#holdings.values()].some(({ running }) => running > 0);
  }

  holdingOf(traits: QueueTraits): Holding {
    let holding = this.#holdings.get(traits);
    if (!holding) {
      const concurrency = scaled(traits.concurrency, this.release);
      const capacity = concurrency * (traits.capacity / traits.concurrency);
      this.#holdings.set(traits, (holding = new Holding(this, capacity, concurrency)));
    }
    return holding;
  }

  #since(at: number, now: number): number {
    return this.isStopping || this.process.isDead || at > now ? Infinity : Math.max(this.servesSince, at);
  }
}
