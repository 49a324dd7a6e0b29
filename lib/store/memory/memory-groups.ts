import type { GroupBacklog } from '../admin-store.js';
import type { GroupRules, Rate } from '../message-store.js';
import { ClaimWindow } from './claim-rate.js';
import type { MemoryMessage } from './message-table.js';

/**
 * Decides which messages may be claimed in a queue with groups. A group has a limited number of permits, and groups are served round-robin.
 * A message has a permit from its claim until it is settled; with `hold`, also while it waits for a retry.
 */
export class MemoryGroups {
  /** By group: number of messages that have a permit. */
  readonly #taken = new Map<string, number>();
  /** By group: when it was last served. */
  readonly #lastServed = new Map<string, number>();
  #served = 0;

  /**
   * @param settings - the settings of groups that have their own, by name
   * @param claims - the claims that have used the rate of each group, by name
   */
  constructor(
    readonly rules: GroupRules,
    private readonly settings: ReadonlyMap<string, Pick<GroupBacklog, 'paused' | 'concurrency'>>,
    private readonly claims: Map<string, ClaimWindow>,
  ) {}

  /** Chooses at most `most` messages to claim. `ready` contains all ready messages in the order in which they fell due. */
  choose(ready: readonly MemoryMessage[], most: number): MemoryMessage[] {
    const chosen = ready.filter(({ hasPermit, group }) => hasPermit && !this.#isPaused(group));
    const backlogs = new Map<string, MemoryMessage[]>();
    for (const message of ready) if (!message.hasPermit) push(backlogs, message);
    const last = (group: string) => this.#lastServed.get(group) ?? 0;
    const groups = [...backlogs.keys()].sort((one, other) => last(one) - last(other));
    for (let round = 0; groups.length > 0 && chosen.length < most; round++) {
      for (const group of groups.splice(0)) {
        const backlog = backlogs.get(group)!;
        if (round >= backlog.length || round >= this.#free(group)) continue;
        chosen.push(backlog[round]!);
        groups.push(group);
      }
    }
    return chosen.slice(0, most);
  }

  /** Returns those of the messages whose group's rate allows no claim now, each with the time at which it allows the next one. */
  beyondRate(rate: Rate, messages: readonly MemoryMessage[], now: number): { message: MemoryMessage; until: number }[] {
    const left = new Map<string, number>();
    return messages.flatMap((message) => {
      const claims = this.claims.get(message.group) ?? new ClaimWindow();
      const room = left.get(message.group) ?? claims.room(rate, now);
      if (room === 0) return { message, until: claims.opensAt(rate, now) };
      left.set(message.group, room - 1);
      return [];
    });
  }

  /** Counts claimed messages towards the rate of their groups. */
  count(messages: readonly MemoryMessage[], now: number): void {
    const { rate } = this.rules;
    if (!rate) return;
    for (const { group } of messages) {
      const claims = this.claims.get(group) ?? new ClaimWindow();
      claims.count(1, now);
      // The group claimed last comes last, so groups whose claims no longer count are at the start.
      this.claims.delete(group);
      this.claims.set(group, claims);
    }
    for (const [group, claims] of this.claims) {
      if (claims.room(rate, now) < rate.max) break;
      this.claims.delete(group);
    }
  }

  take(messages: readonly MemoryMessage[]): void {
    for (const message of messages) {
      this.#lastServed.set(message.group, ++this.#served);
      if (message.hasPermit) continue;
      message.hasPermit = true;
      this.#taken.set(message.group, this.#takenBy(message.group) + 1);
    }
  }

  /**
   * Returns the messages that have a permit. In Redis, a group's next ready message gets one before it is claimed, so it is among them here.
   * @param messages - all messages; the ready ones in the order in which they fell due
   */
  holders(messages: readonly MemoryMessage[]): MemoryMessage[] {
    const holders = messages.filter(({ hasPermit }) => hasPermit);
    const served = new Set(holders.filter(({ state }) => state === 'ready').map(({ group }) => group));
    for (const message of messages) {
      const { state, group, hasPermit } = message;
      if (state !== 'ready' || hasPermit || served.has(group) || this.#free(group) <= 0) continue;
      served.add(group);
      holders.push(message);
    }
    return holders;
  }

  /** Frees the message's permit, if it has one. */
  leave(message: MemoryMessage): void {
    if (!message.hasPermit) return;
    message.hasPermit = false;
    const taken = this.#takenBy(message.group) - 1;
    if (taken > 0) this.#taken.set(message.group, taken);
    else this.#taken.delete(message.group);
  }

  clear(): void {
    this.#taken.clear();
    this.#lastServed.clear();
  }

  #free(group: string): number {
    if (this.#isPaused(group)) return 0;
    const { concurrency } = this.settings.get(group) ?? {};
    if (concurrency === 'unlimited') return Infinity;
    return (concurrency ?? this.rules.concurrency ?? Infinity) - this.#takenBy(group);
  }

  #isPaused(group: string): boolean {
    return this.settings.get(group)?.paused === true;
  }

  #takenBy(group: string): number {
    return this.#taken.get(group) ?? 0;
  }
}

function push(backlogs: Map<string, MemoryMessage[]>, message: MemoryMessage): void {
  const backlog = backlogs.get(message.group);
  if (backlog) backlog.push(message);
  else backlogs.set(message.group, [message]);
}
