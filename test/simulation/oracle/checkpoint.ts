import type { Delivery } from './delivery.js';
import type { GroupUse } from './group-use.js';
import type { Ledger } from './ledger.js';
import type { Life } from './life.js';
import type { QueueUse } from './queue-use.js';

const FIELDS = [
  ...(['end', 'endedAt', 'due', 'firstDue', 'inBacklogSince', 'failedAttempts', 'wasClaimed'] as const),
  ...([
    'hasPermit',
    'dueBeforeStep',
    'repeats',
    'isRulePaused',
    'occurrencesOver',
    'debouncedSince',
    'follower',
    'body',
  ] as const),
] as const;

type Saved = Pick<Life, (typeof FIELDS)[number]>;

/** What the server had of all messages at an instant. If it loses everything since, the ledger goes back to that. */
export class Checkpoint {
  readonly #lives: {
    readonly life: Life;
    readonly saved: Saved;
    readonly holder: Delivery | undefined;
    readonly leaseEnd: number;
  }[] = [];
  readonly #paused = new Set<QueueUse>();
  readonly #groups = new Map<GroupUse, Pick<GroupUse, 'isPaused' | 'permits'>>();
  readonly #claims = new Map<GroupUse, readonly number[]>();

  constructor(ledger: Ledger) {
    for (const queue of ledger.queues()) {
      if (queue.isPaused) this.#paused.add(queue);
      for (const group of queue.groups.values()) {
        const { isPaused, permits } = group;
        this.#groups.set(group, { isPaused, permits });
        if (group.rate) this.#claims.set(group, group.rate.claims);
      }
    }
    for (const life of ledger.lives.values()) {
      const saved = Object.fromEntries(FIELDS.map((field) => [field, life[field]])) as unknown as Saved;
      const { holder } = life;
      this.#lives.push({ life, saved, holder, leaseEnd: holder?.leaseEnd ?? 0 });
    }
  }

  restore(ledger: Ledger, now: number): void {
    for (const queue of ledger.queues()) {
      queue.isPaused = this.#paused.has(queue);
      queue.held.clear();
      for (const group of queue.groups.values()) {
        group.used = 0;
        group.roomSince = now;
        group.resumedAt = now;
        const saved = this.#groups.get(group);
        if (saved) Object.assign(group, saved);
        else group.set({ paused: false, concurrency: 'default' }, now);
        if (group.rate) group.rate.claims = this.#claims.get(group) ?? [];
        group.waiting.clear();
      }
    }
    const known = new Set(this.#lives.map(({ life }) => life));
    for (const life of ledger.lives.values()) {
      this.#loseHolder(life, undefined, now);
      // Some process may still have it.
      if (!known.has(life) && !life.end) Object.assign(life, { end: 'lost', endedAt: now, hasPermit: false });
    }
    for (const { life, saved, holder, leaseEnd } of this.#lives) {
      this.#loseHolder(life, holder, now);
      Object.assign(life, saved);
      ledger.lives.set(life.id, life);
      if (life.end) continue;
      life.freeSince = now;
      if (holder) holder.leaseEnd = leaseEnd;
      this.#rejoin(life, holder);
    }
    ledger.recount();
  }

  #loseHolder(life: Life, keeps: Delivery | undefined, now: number): void {
    const { holder } = life;
    if (!holder || holder === keeps) return;
    holder.loss = 'forgotten';
    holder.lostAt = now;
    life.holder = undefined;
  }

  #rejoin(life: Life, holder: Delivery | undefined): void {
    const { queue, group } = life;
    if (group && life.hasPermit) group.used++;
    if (!holder) return void group?.waiting.add(life);
    if (holder.loss === 'aborted') holder.mayCountAsAborted = true;
    // Its process may have let go of it, or may never hear of it again.
    Object.assign(holder, { loss: undefined, lostAt: Infinity, isLeaseUnsure: true });
    life.holder = holder;
    queue.held.add(life);
  }
}
