import { describe, expect, it } from '@jest/globals';
import type { OfferOutcome, OnDuplicate } from '../../../lib/store/producer-store.js';
import { type ContractQueues, HOUR } from '../contract-queue.js';

const STATES = ['delayed', 'ready', 'active', 'dead'] as const;

export function describeDuplicates(queues: ContractQueues): void {
  describe('duplicate ids', () => {
    describe.each(STATES)('of a message that is %s', (state) => {
      it('an offer with onDuplicate keep leaves the existing message unchanged', async () => {
        const queue = await queues.open();
        await queue.makeIn(state, 'a');
        const before = await queue.look('a');
        const { dueAt } = await queue.find('a');
        const receipt = await queue.offer('a', { after: 1 }, { onDuplicate: 'keep', payload: 'new' });
        expect(receipt).toEqual({ outcome: 'kept', dueAt });
        expect(await queue.look('a')).toEqual(before);
      });

      it('an offer with onDuplicate reject is rejected and changes nothing', async () => {
        const queue = await queues.open();
        await queue.makeIn(state, 'a');
        const before = await queue.look('a');
        const { dueAt } = await queue.find('a');
        const receipt = await queue.offer('a', { after: 1 }, { onDuplicate: 'reject', payload: 'new' });
        expect(receipt).toEqual({ outcome: 'rejected', dueAt });
        expect(await queue.look('a')).toEqual(before);
      });

      it('an offer with onDuplicate replace creates a new message in place of the old one', async () => {
        const queue = await queues.open();
        const oldClaim = await queue.makeIn(state, 'a');
        const { outcome, dueAt } = await queue.offer('a', { after: HOUR }, { onDuplicate: 'replace', payload: 'new' });
        expect(outcome).toBe('replaced');

        const message = await queue.find('a');
        expect(message).toMatchObject({ state: 'delayed', failedAttempts: 0, dueAt, leasedUntil: null });
        expect(queue.codec.decode(message.body).payload).toBe('new');
        const { counts, nextDue } = await queue.store.status();
        expect(counts).toEqual({ delayed: 1, ready: 0, active: 0, dead: 0 });
        expect(nextDue).toBe(dueAt);
        expect(await queue.dead()).toEqual([]);
        if (oldClaim) {
          expect(await queue.store.extend([oldClaim], HOUR)).toEqual([oldClaim]);
          expect(await queue.settle(oldClaim, { kind: 'ack' })).toBe(false);
        }

        await queue.store.reschedule('a', { at: 0 });
        expect(await queue.transfer()).toMatchObject({ moved: 1, recovered: 0, ready: 1 });
        expect(await queue.claim()).toHaveLength(1);
        expect(await queue.claim()).toHaveLength(0);
      });
    });

    it('an offer counts as a duplicate of earlier offers in the same call', async () => {
      const queue = await queues.open();
      const base = Math.floor(await queue.now()) + HOUR;
      const offers: [id: string, onDuplicate: OnDuplicate][] = [
        ['a', 'reject'],
        ['b', 'keep'],
        ['a', 'keep'],
        ['a', 'reject'],
        ['b', 'replace'],
        ['b', 'keep'],
        ['b', 'replace'],
      ];
      const receipts = await queue.store.offer(
        offers.map(([id, onDuplicate], index) => ({
          id,
          due: { at: base + index },
          onDuplicate,
          body: queue.codec.encode({ type: '', payload: index, headers: {} }),
        })),
      );
      expect(receipts).toEqual([
        { outcome: 'created', dueAt: base },
        { outcome: 'created', dueAt: base + 1 },
        { outcome: 'kept', dueAt: base },
        { outcome: 'rejected', dueAt: base },
        { outcome: 'replaced', dueAt: base + 4 },
        { outcome: 'kept', dueAt: base + 4 },
        { outcome: 'replaced', dueAt: base + 6 },
      ]);
      expect(queue.codec.decode((await queue.find('a')).body).payload).toBe(0);
      expect(queue.codec.decode((await queue.find('b')).body).payload).toBe(6);
      expect(await queue.find('b')).toMatchObject({ dueAt: base + 6 });
      expect(await queue.store.status()).toMatchObject({ counts: { delayed: 2 }, nextDue: base });
    });

    it.each<[OnDuplicate, OfferOutcome]>([
      ['keep', 'kept'],
      ['reject', 'rejected'],
      ['replace', 'replaced'],
    ])('concurrent offers of one id with onDuplicate %s create exactly one message', async (onDuplicate, outcome) => {
      const queue = await queues.open();
      const views = [queue.store, queue.secondView];
      const receipts = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          queue.offer('a', { after: HOUR }, { onDuplicate, view: views[index % 2], payload: index }),
        ),
      );
      const outcomes = receipts.map((receipt) => receipt.outcome);
      expect(outcomes.filter((each) => each === 'created')).toHaveLength(1);
      expect(outcomes.filter((each) => each === outcome)).toHaveLength(19);
      expect((await queue.store.status()).counts).toEqual({ delayed: 1, ready: 0, active: 0, dead: 0 });
    });

    it('a replaced message can be replaced again', async () => {
      const queue = await queues.open();
      for (const state of STATES) {
        await queue.store.clear();
        await queue.makeIn(state, 'a');
        await queue.offer('a', { after: HOUR }, { onDuplicate: 'replace' });
        await queue.offer('a', { after: HOUR }, { onDuplicate: 'replace' });
        expect((await queue.store.status()).counts).toEqual({ delayed: 1, ready: 0, active: 0, dead: 0 });
      }
    });
  });
}
