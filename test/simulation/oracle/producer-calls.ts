import { instantOf } from '../../../lib/store/memory/memory-queue.js';
import type { DeadSelection } from '../../../lib/store/admin-store.js';
import type { Change, DueTime, Offer, OfferReceipt, RepeatPause } from '../../../lib/store/producer-store.js';
import type { SimulatedServer } from '../network/server.js';
import type { World } from '../world/world.js';
import type { Journal } from './journal.js';
import type { KeptIdsUse } from './kept-ids-use.js';
import type { Ledger } from './ledger.js';
import { Life, numberOf } from './life.js';
import type { QueueUse } from './queue-use.js';

export interface ProducerCallsOptions {
  readonly world: World;
  readonly server: SimulatedServer;
  readonly journal: Journal;
  readonly ledger: Ledger;
  readonly keptIds: KeptIdsUse;
  readonly violate: (promise: string, id: string, detail: string) => void;
}

/** How offers are counted by their outcomes. */
const OFFERED: Readonly<Record<string, string>> = {
  created: 'offer created',
  replaced: 'offer replaced',
  kept: 'offer kept',
  rejected: 'offer rejected',
  followed: 'offer followed',
  handled: 'offer ignored',
};

/** What producers and administrators have done to messages. */
export class ProducerCalls {
  constructor(private readonly options: ProducerCallsOptions) {}

  offered(queue: QueueUse, offers: readonly Offer[], receipts: readonly OfferReceipt[]): void {
    const { journal, server, ledger, keptIds } = this.options;
    for (let i = 0; i < offers.length; i++) {
      const { outcome, dueAt } = receipts[i]!;
      const { id, due, group, maxWait, onDuplicate, body } = offers[i]!;
      ledger.count(OFFERED[outcome] ?? outcome);
      keptIds.offered(queue, id, receipts[i]!);
      journal.digestOf(2, numberOf(id));
      journal.write?.(`${id} offered to ${queue.traits.name}: ${outcome}, due ${server.worldTimeOf(dueAt)}`);
      const known = ledger.lives.get(id);
      if (outcome === 'followed') known!.follower = due;
      // One that is due takes the rule over and stays.
      if (outcome === 'followed' || (outcome === 'kept' && onDuplicate === 'repeat'))
        Object.assign(known!, { repeats: onDuplicate === 'repeat', body: undefined, occurrencesOver: undefined });
      if (outcome !== 'created' && outcome !== 'replaced') continue;
      const life = new Life(id, queue, queue.groupOf(group), { due: dueAt, freeSince: this.#now });
      life.body = body;
      life.repeats = onDuplicate === 'repeat';
      // A new rule does not resume it.
      life.isRulePaused = life.repeats && known !== undefined && !known.end && known.isRulePaused;
      if (life.isRulePaused) life.body = undefined;
      if (maxWait !== undefined && known) this.#judgeWait(life, known, maxWait);
      ledger.add(life, known);
    }
  }

  /** A message that is offered again and again waits no longer than its offers say. */
  #judgeWait(life: Life, known: Life, maxWait: number): void {
    const { server, violate } = this.options;
    if (!known.isDelayed(server.time)) return;
    life.debouncedSince = known.debouncedSince;
    const late = server.worldTimeOf(life.due) - life.debouncedSince - maxWait;
    if (late > 1) violate('waits no longer', life.id, `due ${late} ms after the end of its wait`);
  }

  cancelled({ store }: QueueUse, id: string): void {
    const life = this.options.ledger.lives.get(id)!;
    // It may be the follower alone that was removed.
    void store.find(id).then((found) => {
      if (found) {
        Object.assign(life, { follower: undefined, repeats: false, isRulePaused: false, body: undefined });
      } else this.options.ledger.end(life, 'cancelled');
    });
  }

  /** One that waits for its next occurrence is moved. */
  rulePaused({ store }: QueueUse, id: string, { resume }: RepeatPause): void {
    const life = this.options.ledger.lives.get(id)!;
    life.isRulePaused = !resume;
    life.body = undefined;
    this.options.ledger.count(resume ? 'rules resumed' : 'rules paused');
    void store.find(id).then((found) => {
      if (found?.state === 'delayed' && found.dueAt !== life.due) this.moved(id, { at: found.dueAt });
    });
  }

  changed(id: string, { from, to, due }: Change): void {
    const life = this.options.ledger.lives.get(id)!;
    if (life.body !== undefined && !Buffer.from(life.body).equals(Buffer.from(from))) {
      this.options.violate('changes', id, 'a change overwrites another one that it has not seen');
    }
    life.body = to;
    this.moved(id, due);
  }

  moved(id: string, due: DueTime): void {
    const life = this.options.ledger.lives.get(id)!;
    const { server, journal } = this.options;
    life.due = instantOf(due, server.time);
    life.freeSince = this.#now;
    life.inBacklogSince = this.#now;
    if (!life.wasClaimed) life.firstDue = life.due;
    journal.write?.(`${id} moved, due ${server.worldTimeOf(life.due)}`);
  }

  aborted(id: string): void {
    const { ledger } = this.options;
    const life = ledger.lives.get(id)!;
    ledger.lose(life, 'aborted');
    ledger.endOrFollow(life, 'aborted');
  }

  redriven(queue: QueueUse, selection: DeadSelection): void {
    for (const life of this.#selected(queue, selection)) {
      void queue.store.find(life.id).then((found) => {
        if (!found) return this.options.ledger.discard(life);
        if (found.state !== 'dead' && life.end === 'dead') this.options.ledger.redrive(life, found.dueAt);
      });
    }
  }

  discarded(queue: QueueUse, selection: DeadSelection): void {
    for (const life of this.#selected(queue, selection)) {
      void queue.store.find(life.id).then((found) => {
        if (!found) this.options.ledger.discard(life);
      });
    }
  }

  /** The dead letters that a call may have been about. */
  #selected(queue: QueueUse, selection: DeadSelection): Life[] {
    const { lives } = this.options.ledger;
    const all = 'id' in selection ? [lives.get(selection.id)] : [...lives.values()];
    return all.filter((life): life is Life => life?.end === 'dead' && life.queue === queue);
  }

  cleared(queue: QueueUse): void {
    const { ledger } = this.options;
    for (const life of ledger.lives.values()) {
      if (life.queue !== queue) continue;
      if (life.end) {
        ledger.discard(life);
        continue;
      }
      ledger.lose(life, 'cleared');
      ledger.end(life, 'cleared');
    }
  }

  get #now(): number {
    return this.options.world.now;
  }
}
