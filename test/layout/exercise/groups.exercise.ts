import type { MessageBody } from '../../../lib/message/codec/message-codec.js';
import type { Change, ChangeOutcome, Offer, OfferReceipt } from '../../../lib/store/producer-store.js';
import { GroupStore } from '../../../lib/groups/group-store.js';
import { ofGroup, wrapGroup } from '../../support/of-group.js';
import { until } from '../../support/until.js';

const HOUR = 3_600_000;

/** Gives all messages the same group, except those that already have one. */
export class OneGroupStore extends GroupStore {
  override offer(offers: readonly Offer[]): Promise<OfferReceipt[]> {
    return super.offer(offers.map((offer) => (offer.group === undefined ? ofGroup(offer, 'one') : offer)));
  }

  override change(id: string, { due, from, to }: Change): Promise<ChangeOutcome> {
    return super.change(id, { due, from: Buffer.from(grouped(from)), to: grouped(to) });
  }
}

function grouped(body: MessageBody): MessageBody {
  return String(body).startsWith('Ngroup\n') ? body : wrapGroup(body, 'one');
}

/** Lets messages wait in the backlogs of their groups, and takes them out in all ways. */
export class GroupsExercise {
  #tokens = 0;

  /**
   * @param store - of groups with a single permit, which retries keep
   * @param wide - the same queue, with two permits for each group
   * @param open - the same queue, with any number of permits
   * @param damage - loses what is known of the groups
   * @param loseRecord - loses the record of a message
   */
  constructor(
    private readonly store: GroupStore,
    private readonly wide: GroupStore,
    private readonly open: GroupStore,
    private readonly damage: () => Promise<unknown>,
    private readonly loseRecord: (id: string) => Promise<unknown>,
  ) {}

  async run(): Promise<void> {
    await this.#letNextGo();
    await this.#leaveLines();
    await this.#keepPermits();
    await this.#serveRoundRobin();
    await this.#ackInAllWays();
    await this.#changeGroup();
    await this.#repairGroups();
    await this.#listGroup();
    await this.store.clear();
  }

  async #letNextGo(): Promise<void> {
    await this.#offer(['a', 'b'], { at: 0 });
    await this.#transfer();
    const { token } = await this.#claim();
    await this.store.settle([{ claim: { id: 'a', token, group: 'one' }, outcome: { kind: 'ack' } }]);
    await this.store.clear();
  }

  /** Replaces messages that wait in a backlog, lets others become ready, and lists the backlogs. */
  async #leaveLines(): Promise<void> {
    const { store } = this;
    await this.#offer(['a', 'b', 'c', 'd', 'e'], { at: 0 });
    await this.#transfer();
    for (const offset of [0, 1, 2, 9]) {
      const { cursor } = await store.list({ state: 'ready', from: { offset }, limit: 1 });
      if (cursor !== null) await store.list({ state: 'ready', from: { cursor }, limit: 9 });
    }
    for (const cursor of ['', 'ready:0:none']) await store.countTypes(cursor);
    await this.#offer(['b', 'c', 'd'], { after: HOUR }, 'replace');
    await store.list({ state: 'ready', limit: 9 });
    const { token, ids } = await this.#claim();
    await store.settle(ids.map((id) => ({ claim: { id, token, group: 'one' }, outcome: { kind: 'ack' } })));
    await this.#claim();
    await store.clear();
  }

  /** A retry keeps its permit until it is cancelled, moved, replaced or due again. */
  async #keepPermits(): Promise<void> {
    for (const end of ['cancel', 'reschedule', 'change', 'replace', 'due'] as const) {
      await this.#offer(['held', 'next'], { at: 0 });
      await this.#transfer();
      const { token } = await this.#claim();
      const delay = end === 'due' ? 1 : HOUR;
      await this.store.settle([{ claim: { id: 'held', token }, outcome: { kind: 'retry', delay } }]);
      if (end === 'cancel') await this.store.cancel('held');
      else if (end === 'reschedule') await this.store.reschedule('held', { at: 0 });
      else if (end === 'replace') await this.#offer(['held'], { after: HOUR }, 'replace');
      else if (end === 'change') {
        const from = Buffer.from('body of held');
        await this.store.change('held', { due: { at: 0 }, from, to: 'another' });
      } else await until(async () => (await this.store.transfer({ limit: 9 })).moved > 0);
      await this.store.repair(30_000);
      await this.store.clear();
    }
  }

  /** With several permits, claims move the next messages of their groups into the list of ready ids. */
  async #serveRoundRobin(): Promise<void> {
    for (const store of [this.wide, this.open]) await this.#serveRoundRobinIn(store);
  }

  async #serveRoundRobinIn(store: GroupStore): Promise<void> {
    const two = ['a', 'b', 'c'].flatMap((id) => ['one', 'two'].map((group) => ({ id: `${id} of ${group}`, group })));
    await store.offer(
      two.map(({ id, group }) => ofGroup({ id, due: { at: 0 }, onDuplicate: 'keep', body: 'its body' }, group)),
    );
    await until(async () => (await store.transfer({ limit: 9 })).moved > 0);
    await store.claim({ token: 'first turn', limit: 1, lease: HOUR });
    await store.claim({ token: 'next turns', limit: 9, lease: HOUR });
    await store.clear();
  }

  /** One after the other, after a failure, and with a follower. */
  async #ackInAllWays(): Promise<void> {
    const store = this.open;
    await this.#offer(['a', 'b', 'c', 'd'], { at: 0 });
    await this.#transfer();
    await store.claim({ token: 'of four', limit: 9, lease: HOUR });
    const claimOf = (id: string) => ({ id, token: 'of four', group: 'one' });
    await store.settle([{ claim: claimOf('a'), outcome: { kind: 'retry', delay: HOUR } }]);
    await this.#offer(['d'], { after: HOUR }, 'follow');
    for (const id of ['b', 'c', 'd']) await store.settle([{ claim: claimOf(id), outcome: { kind: 'ack' } }]);
    await store.clear();
    // The next message of the backlog becomes ready.
    await this.#offer(['first', 'next'], { at: 0 });
    await this.#transfer();
    const { token } = await this.#claim();
    await this.store.settle([{ claim: { id: 'first', token, group: 'one' }, outcome: { kind: 'ack' } }]);
    const next = await this.#claim();
    await this.store.settle([{ claim: { id: 'next', token: next.token, group: 'one' }, outcome: { kind: 'ack' } }]);
    await store.clear();
  }

  /** Pauses a group, and changes its concurrency. */
  async #changeGroup(): Promise<void> {
    await this.#offer(['first', 'next'], { at: 0 });
    await this.#transfer();
    await this.store.setGroup('one', { paused: true });
    await this.#claim();
    await this.#offer(['later'], { at: 0 });
    await this.#transfer();
    const { cursor } = await this.store.listGroups();
    await this.store.listGroups(cursor!);
    await this.store.setGroup('one', { concurrency: 2 });
    await this.store.clear();
    await this.store.setGroup('one', { paused: false, concurrency: 'default' });
    await this.store.clear();
  }

  /** Restores lost counts. */
  async #repairGroups(): Promise<void> {
    await this.#offer(['held', 'next', 'behind'], { at: 0 });
    await this.#transfer();
    const { token } = await this.#claim();
    await this.store.settle([{ claim: { id: 'held', token }, outcome: { kind: 'retry', delay: HOUR } }]);
    await this.damage();
    await this.store.repair(30_000);
    // The group of a message without a record is known while it is held.
    await this.loseRecord('held');
    await this.store.cancel('held');
    await this.store.clear();
  }

  async #listGroup(): Promise<void> {
    await this.#offer(['later'], { after: HOUR });
    await this.#offer(['ready', 'in line'], { at: 0 });
    await this.#transfer();
    await this.store.listGroup({ group: 'one' });
    await this.store.listGroup({ group: 'one', most: 0 });
    await this.store.listGroups();
    for (const cursor of ['', 'active:', 'ready:0']) await this.store.listHolders(cursor);
  }

  async #offer(ids: readonly string[], due: Offer['due'], onDuplicate: Offer['onDuplicate'] = 'keep'): Promise<void> {
    await this.store.offer(ids.map((id) => ({ id, due, onDuplicate, body: `body of ${id}` })));
  }

  async #transfer(): Promise<void> {
    await until(async () => (await this.store.transfer({ limit: 9 })).moved > 0);
  }

  async #claim() {
    const token = `of groups ${this.#tokens++}`;
    const { messages } = await this.store.claim({ token, limit: 9, lease: HOUR });
    return { token, ids: messages.map(({ id }) => id) };
  }
}
