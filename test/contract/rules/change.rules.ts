import { describe, expect, it } from '@jest/globals';
import type { ChangeOutcome } from '../../../lib/store/producer-store.js';
import { type ContractQueue, type ContractQueues, defined, HOUR, numberedIds } from '../contract-queue.js';

export function describeChanges(queues: ContractQueues): void {
  describe('changes', () => {
    it('a changed message has a new body and due time, but keeps its offer time and its attempts', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      await queue.settle(claim, { kind: 'retry', delay: HOUR });
      const { offeredAt, body } = await queue.find('a');
      const at = Math.floor(await queue.now()) + 2 * HOUR;
      expect(await queue.store.change!('a', { due: { at }, from: body, to: 'J"new"' })).toBe('changed');
      const changed = await queue.find('a');
      expect(changed).toMatchObject({ state: 'delayed', dueAt: at, offeredAt, failedAttempts: 1 });
      expect(changed.body.toString()).toBe('J"new"');
      expect(await queue.store.status()).toMatchObject({ counts: { delayed: 1 }, nextDue: at });
    });

    it('a message changed to be due now is claimed with its new body', async () => {
      const queue = await queues.open();
      await queue.offer('a', { after: HOUR });
      const { body } = await queue.find('a');
      const to = Buffer.from([66, 0, 255, 10, 13]);
      expect(await queue.store.change!('a', { due: { after: 0 }, from: body, to })).toBe('changed');
      await queue.transferSomething();
      const { messages } = await queue.store.claim({ token: 'token', limit: 9, lease: HOUR });
      expect(messages.map((message) => message.body)).toEqual([to]);
    });

    it('a message whose body differs from the one that the caller has read stays unchanged', async () => {
      const queue = await queues.open();
      await queue.offer('a', { after: HOUR });
      const before = await queue.look('a');
      for (const from of ['', 'J', 'J"payload of b"'].map((text) => Buffer.from(text))) {
        expect(await queue.store.change!('a', { due: { after: 1 }, from, to: 'J1' })).toBe('stale');
      }
      expect(await queue.look('a')).toEqual(before);
    });

    it.each(['ready', 'active', 'dead'] as const)('a message that is %s stays unchanged', async (state) => {
      const queue = await queues.open();
      await queue.makeIn(state, 'a');
      const before = await queue.look('a');
      const { body } = await queue.find('a');
      expect(await queue.store.change!('a', { due: { after: 1 }, from: body, to: 'J1' })).toBe('absent');
      expect(await queue.look('a')).toEqual(before);
    });

    it('an unknown id is reported as missing, and nothing is created', async () => {
      const { store } = await queues.open();
      const change = { due: { after: 1 }, from: Buffer.from('J1'), to: 'J2' };
      expect(await store.change!('nobody', change)).toBe('absent');
      expect(await store.find('nobody')).toBeNull();
    });

    it('only one of several callers that have read the same body changes it', async () => {
      const queue = await queues.open();
      await queue.offer('a', { after: HOUR });
      const { body } = await queue.find('a');
      const views = [queue.store, queue.secondView];
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          views[i % 2]!.change!('a', { due: { after: HOUR }, from: body, to: `J${i}` }),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === 'changed')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'stale')).toHaveLength(19);
      expect((await queue.find('a')).body.toString()).toBe(`J${outcomes.indexOf('changed')}`);
    });

    it('for each message, either the change or the transfer succeeds, and the caller learns which', async () => {
      const queue = await queues.open();
      const ids = numberedIds(200);
      await queue.offerDue(...ids);
      const bodies = new Map(await Promise.all(ids.map(async (id) => [id, (await queue.find(id)).body] as const)));
      const transfers = queue.transferAll(7);
      const outcomes = await changeBackwards(queue, bodies);
      const changed = [...outcomes].filter(([, outcome]) => outcome === 'changed');
      expect((await transfers) + changed.length).toBe(ids.length);
      for (const [id, outcome] of outcomes) {
        const { state, body } = await queue.find(id);
        const expected = outcome === 'changed' ? ['delayed', 'J"new"'] : ['ready', String(bodies.get(id))];
        expect([id, state, body.toString()]).toEqual([id, ...expected]);
      }
    });
  });
}

/** Starts with the last id, so that it meets the transfer, which starts with the first, in the middle. */
async function changeBackwards(
  queue: ContractQueue,
  bodies: ReadonlyMap<string, Buffer>,
): Promise<Map<string, ChangeOutcome>> {
  const outcomes = new Map<string, ChangeOutcome>();
  const all = [...bodies].reverse();
  for (let at = 0; at < all.length; at += 10) {
    await Promise.all(
      all.slice(at, at + 10).map(async ([id, from]) => {
        outcomes.set(id, await defined(queue.secondView.change?.(id, { due: { after: HOUR }, from, to: 'J"new"' })));
      }),
    );
  }
  return outcomes;
}
