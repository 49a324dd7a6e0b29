import { describe, expect, it } from '@jest/globals';
import type { Offer, OfferReceipt } from '../../../lib/store/producer-store.js';
import type { Outcome } from '../../../lib/store/consumer-store.js';
import { type ContractQueue, type ContractQueues, HOUR, numberedIds } from '../contract-queue.js';

const RULES = { for: HOUR, max: 1000 };
const ACK: Outcome = { kind: 'ack' };

async function handle(queue: ContractQueue, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const [claim] = await queue.makeActive([id]);
    expect(await queue.settle(claim, ACK)).toBe(true);
  }
}

const offerOf = (id: string, onDuplicate: Offer['onDuplicate'] = 'keep'): Offer => ({
  ...{ id, due: { after: HOUR }, onDuplicate },
  body: 'J1',
});

const offerAgain = async (queue: ContractQueue, id: string, onDuplicate?: Offer['onDuplicate']) =>
  (await queue.secondView.offer([offerOf(id, onDuplicate)]))[0]!;

const isKept = async (queue: ContractQueue, id: string) => (await offerAgain(queue, id)).outcome === 'handled';

const outcomesOf = (receipts: readonly OfferReceipt[]) => receipts.map(({ outcome }) => outcome);

export function describeKeptIds(queues: ContractQueues): void {
  describe('kept ids', () => {
    it('an offer with the id of a handled message is ignored, whatever it does with duplicates', async () => {
      const queue = await queues.open({ idsFor: RULES });
      const before = Math.floor(await queue.now());
      await handle(queue, 'a');
      const after = await queue.now();
      for (const onDuplicate of ['keep', 'replace', 'reject', 'follow', 'repeat'] as const) {
        const { outcome, dueAt } = await offerAgain(queue, 'a', onDuplicate);
        expect(outcome).toBe('handled');
        expect(dueAt).toBeGreaterThanOrEqual(before);
        expect(dueAt).toBeLessThanOrEqual(after);
      }
      const [debounced] = await queue.store.offer([{ ...offerOf('a', 'replace'), maxWait: HOUR }]);
      expect(debounced!.outcome).toBe('handled');
      expect(await queue.store.find('a')).toBeNull();
      expect((await queue.store.status()).counts).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    });

    it('a store without the option keeps no id', async () => {
      const queue = await queues.open();
      await handle(queue, 'a');
      expect(await queue.store.freeId!('a')).toBe(false);
      expect(await offerAgain(queue, 'a')).toMatchObject({ outcome: 'created' });
    });

    it('all other outcomes leave the id in use, or free', async () => {
      const queue = await queues.open({ idsFor: RULES });
      const outcomes: readonly [string, Outcome][] = [
        ['retried', { kind: 'retry', delay: HOUR }],
        ['deferred', { kind: 'defer', delay: HOUR }],
        ['again', { kind: 'again', delay: HOUR }],
        ['expired', { kind: 'ack', lateBy: 5 }],
        ['dead', { kind: 'dead', error: '{}' }],
      ];
      const claims = await queue.makeActive(outcomes.map(([id]) => id));
      const settlements = claims.map((claim, i) => ({ claim, outcome: outcomes[i]![1] }));
      const [other] = await queue.makeActive(['handled']);
      // Together with one that is handled, so that the call keeps ids at all.
      await queue.store.settle([...settlements, { claim: other!, outcome: ACK }]);
      const receipts = await queue.store.offer([...outcomes.map(([id]) => offerOf(id)), offerOf('handled')]);
      expect(outcomesOf(receipts)).toEqual(['kept', 'kept', 'kept', 'created', 'kept', 'handled']);
    });

    it('of a call in which all messages are gone, only the ids of handled ones are kept', async () => {
      const queue = await queues.open({ idsFor: RULES });
      const claims = await queue.makeActive(['expired', 'handled']);
      const outcomes: readonly Outcome[] = [{ kind: 'ack', lateBy: 5 }, ACK];
      await queue.store.settle(claims.map((claim, i) => ({ claim, outcome: outcomes[i]! })));
      const receipts = await queue.store.offer([offerOf('handled'), offerOf('expired')]);
      expect(outcomesOf(receipts)).toEqual(['handled', 'created']);
    });

    it('a claim that is no longer held keeps no id', async () => {
      const queue = await queues.open({ idsFor: RULES });
      const [gone, handled] = await queue.makeActive(['gone', 'handled']);
      expect(await queue.store.abort('gone')).toBe(true);
      const { accepted } = await queue.store.settle([gone!, handled!].map((claim) => ({ claim, outcome: ACK })));
      expect(accepted).toEqual([false, true]);
      expect(outcomesOf(await queue.store.offer([offerOf('gone'), offerOf('handled')]))).toEqual([
        'created',
        'handled',
      ]);
    });

    it('an outcome that is sent again changes nothing', async () => {
      const queue = await queues.open({ idsFor: RULES });
      const [claim] = await queue.makeActive(['a']);
      await queue.settle(claim, ACK);
      const { dueAt } = await offerAgain(queue, 'a');
      await queue.advance(2);
      expect(await queue.settle(claim, ACK)).toBe(false);
      expect(await offerAgain(queue, 'a')).toEqual({ outcome: 'handled', dueAt });
    });

    it('a message that was cancelled, cleared, aborted or discarded leaves its id free', async () => {
      const queue = await queues.open({ idsFor: RULES });
      await queue.offer('cancelled', { after: HOUR });
      expect(await queue.store.cancel('cancelled')).toBe(true);
      await queue.makeActive(['aborted']);
      expect(await queue.store.abort('aborted')).toBe(true);
      await queue.makeDead('discarded');
      expect(await queue.store.discard({ id: 'discarded' })).toBe(1);
      await queue.offer('cleared', { after: HOUR });
      expect(await queue.store.clear()).toBe(1);
      const ids = ['cancelled', 'aborted', 'discarded', 'cleared'];
      expect(outcomesOf(await queue.store.offer(ids.map((id) => offerOf(id))))).toEqual(ids.map(() => 'created'));
    });

    it('a dead letter that is redriven and then handled leaves its id kept', async () => {
      const queue = await queues.open({ idsFor: RULES });
      await queue.makeDead('a');
      expect(await queue.store.redrive({ id: 'a' })).toBe(1);
      await queue.transfer();
      const [claim] = await queue.claim();
      expect(await queue.settle(claim, ACK)).toBe(true);
      expect(await isKept(queue, 'a')).toBe(true);
    });

    it('clear removes messages, and leaves kept ids', async () => {
      const queue = await queues.open({ idsFor: RULES });
      await handle(queue, 'a');
      await queue.store.clear();
      expect(await isKept(queue, 'a')).toBe(true);
    });

    it('a message that is restored is stored even if its id is kept', async () => {
      const queue = await queues.open({ idsFor: RULES });
      await handle(queue, 'a');
      const past = { offeredAt: 1000, failedAttempts: 0, death: null, isHeld: false };
      const [receipt] = await queue.store.offer([{ ...offerOf('a'), due: { at: 9e12 }, past }]);
      expect(receipt).toEqual({ outcome: 'created', dueAt: 9e12 });
    });

    it('kept ids count as no messages', async () => {
      const queue = await queues.open({ idsFor: RULES, maxMessages: 1 });
      await handle(queue, 'a', 'b');
      expect(await offerAgain(queue, 'c')).toMatchObject({ outcome: 'created' });
      expect(outcomesOf(await queue.store.offer([offerOf('d'), offerOf('a'), offerOf('c')]))).toEqual(['full', 'handled', 'kept']); // prettier-ignore
    });

    it('receipts are in the order of the offers, and each offer sees those before it', async () => {
      const queue = await queues.open({ idsFor: RULES });
      await handle(queue, 'a', 'b');
      const at = Math.floor(await queue.now()) + HOUR;
      const offers = ['x', 'a', 'y', 'x', 'b', 'z'].map((id, i) => ({ ...offerOf(id), due: { at: at + i } }));
      const receipts = await queue.store.offer(offers);
      expect(outcomesOf(receipts)).toEqual(['created', 'handled', 'created', 'kept', 'handled', 'created']);
      expect([0, 2, 3, 5].map((i) => receipts[i]!.dueAt)).toEqual([at, at + 2, at, at + 5]);
      expect(await queue.store.offer([offerOf('a'), offerOf('b')])).toMatchObject([{ outcome: 'handled' }, { outcome: 'handled' }]); // prettier-ignore
      const [only] = await queue.store.offer([{ ...offerOf('n', 'replace'), due: { at } }, offerOf('a', 'replace')]);
      expect(only).toEqual({ outcome: 'created', dueAt: at });
    });

    it('an id is kept for the given time, and then free', async () => {
      const queue = await queues.open({ idsFor: { ...RULES, for: 1000 } });
      await handle(queue, 'a', 'freed');
      await queue.advance(600);
      await handle(queue, 'b');
      expect(await isKept(queue, 'a')).toBe(true);
      await queue.advance(500);
      expect(await queue.store.freeId!('freed')).toBe(false);
      expect(outcomesOf(await queue.store.offer([offerOf('a'), offerOf('b')]))).toEqual(['created', 'handled']);
      await queue.store.clear();
      await queue.advance(1100);
      expect(await queue.leftovers()).toEqual([]);
    });

    it('the oldest ids beyond the maximum are dropped, and counted', async () => {
      const queue = await queues.open({ idsFor: { ...RULES, max: 2 } });
      const dropped: unknown[] = [];
      for (const id of ['a', 'b', 'c']) {
        const [claim] = await queue.makeActive([id]);
        dropped.push((await queue.store.settle([{ claim: claim!, outcome: ACK }])).idsDropped);
        await queue.advance(2);
      }
      expect(dropped).toEqual([0, 0, 1]);
      expect(outcomesOf(await queue.store.offer(['a', 'b', 'c'].map((id) => offerOf(id))))).toEqual(['created', 'handled', 'handled']); // prettier-ignore
    });

    it('ids that are too old are dropped without being counted', async () => {
      const queue = await queues.open({ idsFor: { for: 1000, max: 1 } });
      await handle(queue, 'a');
      await queue.advance(1100);
      const [claim] = await queue.makeActive(['b']);
      expect(await queue.store.settle([{ claim: claim!, outcome: ACK }])).toEqual({ accepted: [true], dropped: 0, idsDropped: 0 }); // prettier-ignore
    });

    it('an id is freed by hand, once', async () => {
      const queue = await queues.open({ idsFor: RULES });
      await handle(queue, 'a', 'b');
      expect(await queue.store.freeId!('a')).toBe(true);
      expect(await queue.secondView.freeId!('a')).toBe(false);
      expect(await queue.store.freeId!('never')).toBe(false);
      expect(outcomesOf(await queue.store.offer([offerOf('a'), offerOf('b')]))).toEqual(['created', 'handled']);
    });

    it('as many messages as one call takes are settled, and their ids kept', async () => {
      const queue = await queues.open({ idsFor: { ...RULES, max: 10_000 } });
      const ids = numberedIds(1000);
      await queue.makeReady(...ids);
      const claims = await queue.claim(1000);
      expect(claims).toHaveLength(1000);
      const settlements = claims.map((claim, i) => ({ claim, outcome: i === 7 ? { kind: 'release' as const } : ACK }));
      expect((await queue.store.settle(settlements)).accepted.every(Boolean)).toBe(true);
      const receipts = await queue.store.offer(ids.slice(0, 250).map((id) => offerOf(id)));
      expect(outcomesOf(receipts)).toEqual(ids.slice(0, 250).map((_, i) => (i === 7 ? 'kept' : 'handled')));
    });

    it('an id that a follower has taken is in use, and kept once the follower has been handled', async () => {
      const queue = await queues.open({ idsFor: RULES });
      const [claim] = await queue.makeActive(['a']);
      expect(await queue.offer('a', { after: 0 }, { onDuplicate: 'follow' })).toMatchObject({ outcome: 'followed' });
      expect(await queue.settle(claim, ACK)).toBe(true);
      expect(await offerAgain(queue, 'a')).toMatchObject({ outcome: 'kept' });
      await queue.transferSomething();
      const [follower] = await queue.claim();
      expect(await queue.settle(follower, ACK)).toBe(true);
      expect(await isKept(queue, 'a')).toBe(true);
    });

    it('a repeating message keeps no id', async () => {
      const queue = await queues.open({ idsFor: RULES });
      const claims = await queue.makeActive(['a', 'b']);
      const [a, b] = claims;
      await queue.store.settle([
        { claim: a!, outcome: { kind: 'ack', next: { at: null } } },
        { claim: b!, outcome: ACK },
      ]);
      expect(outcomesOf(await queue.store.offer([offerOf('a'), offerOf('b')]))).toEqual(['created', 'handled']);
    });
  });
}
