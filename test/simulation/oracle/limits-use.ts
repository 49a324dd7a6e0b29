import type { SetLimits } from '../../../lib/limits/set-limits.js';
import type { QueueTraits, Scenario } from '../applications/scenario.js';
import type { Member } from './member.js';

/** The time within which a process follows an announcement, ms: it hears of the change, and reads the limits. */
const FOLLOWED = 250;

/** What each unit of distance adds to that, ms. */
const FOLLOWED_PER_DISTANCE = 25;

/** How long a process takes at most, besides its interval, to find a change by itself: the pause after a failure, and a call, ms. */
const MAX_SEARCH = 1500;

/** The number of changes that are remembered. */
const MAX_CHANGES = 64;

export interface Limits {
  readonly globalConcurrency: number;
  /** The number of messages within the time of the scenario. */
  readonly rate: number;
}

/** Limits that came into force, ms of the world. */
interface Change {
  readonly at: number;
  /** Infinity: not yet. */
  announcedAt: number;
  readonly limits: Limits;
}

/** A queue's limits, and who may know which of them. */
export class LimitsUse {
  readonly #own: Limits;
  readonly #followed: number;
  #changes: Change[];
  /** True if limits are set that replace those of the options. */
  areSet = false;

  constructor(
    private readonly traits: QueueTraits,
    private readonly scenario: Scenario,
  ) {
    const rate = traits.kind === 'rated' ? scenario.rate.max : Infinity;
    this.#followed = FOLLOWED + FOLLOWED_PER_DISTANCE * scenario.distance;
    this.#own = { globalConcurrency: traits.globalConcurrency ?? Infinity, rate };
    this.#changes = [{ at: -Infinity, announcedAt: -Infinity, limits: this.#own }];
  }

  get current(): Limits {
    return this.#changes.at(-1)!.limits;
  }

  change(set: SetLimits | undefined, at: number): void {
    const { globalConcurrency = this.#own.globalConcurrency, rate } = set ?? {};
    const limits = { globalConcurrency: globalConcurrency ?? Infinity, rate: rate?.max ?? this.#own.rate };
    this.areSet = set !== undefined;
    this.#changes = [...this.#changes.slice(-MAX_CHANGES), { at, announcedAt: Infinity, limits }];
  }

  announced(at: number): void {
    for (const change of this.#changes) change.announcedAt = Math.min(change.announcedAt, at);
  }

  /** The largest limits that a process may have known when it sent a call: whatever came into force since the last that it must know. */
  largestFor(member: Member, sentAt: number): Limits {
    const before = this.#changes.filter(({ at }) => at <= sentAt);
    const known = before.findLastIndex((change) => this.#mustKnow(member, change, sentAt));
    const limits = before.slice(Math.max(0, known)).map((change) => change.limits);
    return {
      globalConcurrency: Math.max(...limits.map(({ globalConcurrency }) => globalConcurrency)),
      rate: Math.max(...limits.map(({ rate }) => rate)),
    };
  }

  /** The time from which all processes keep to the current limits, unless something is wrong with them. */
  settledAt(members: readonly Member[]): number {
    const { at, announcedAt } = this.#changes.at(-1)!;
    const isHeard = members.every((member) => at < member.joinedAt || this.#hears(member, announcedAt));
    const followedFrom = isHeard ? announcedAt : at + this.scenario.checkInterval + MAX_SEARCH;
    return followedFrom + this.#followed;
  }

  #mustKnow(member: Member, { at, announcedAt }: Change, now: number): boolean {
    // It reads them before its first claim.
    if (at < member.joinedAt) return true;
    if (announcedAt + this.#followed <= now && this.#hears(member, announcedAt)) return true;
    const undisturbed = member.longestUnhindered('claims', this.traits.name, at, now);
    return undisturbed >= this.scenario.checkInterval + MAX_SEARCH;
  }

  /** True if nothing was wrong with a process that was told of limits then, nor while it followed. */
  #hears(member: Member, at: number): boolean {
    const { name } = this.traits;
    return (['claims', 'announcements'] as const).every(
      (concern) => member.longestUnhindered(concern, name, at, at + this.#followed) >= this.#followed,
    );
  }
}
