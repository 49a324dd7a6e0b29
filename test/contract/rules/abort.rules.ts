import { describe, expect, it } from '@jest/globals';
import type { Claim } from '../../../lib/store/consumer-store.js';
import { until } from '../../support/until.js';
import { type ContractQueues, defined, HOUR, SHORT_LEASE } from '../contract-queue.js';

export function describeAborts(queues: ContractQueues): void {
  describe('aborts', () => {
    it('an aborted message is gone, and its id is free', async () => {
      const queue = await queues.open();
      await queue.makeActive(['a']);
      expect(await queue.store.abort('a')).toBe(true);
      expect(await queue.stateOf('a')).toBeNull();
      expect((await queue.store.status()).counts).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
      expect(await queue.leftovers()).toEqual([]);
      expect(await queue.offer('a', { after: HOUR })).toMatchObject({ outcome: 'created' });
      expect(await queue.find('a')).toMatchObject({ failedAttempts: 0 });
    });

    it.each(['delayed', 'ready', 'dead'] as const)('a message that is %s cannot be aborted', async (state) => {
      const queue = await queues.open();
      await queue.makeIn(state, 'a');
      expect(await queue.store.abort('a')).toBe(false);
      expect(await queue.stateOf('a')).toBe(state);
    });

    it('an unused id cannot be aborted', async () => {
      const queue = await queues.open();
      expect(await queue.store.abort('a')).toBe(false);
    });

    it.each(['ack', 'retry', 'dead', 'release'] as const)(
      'an aborted message cannot be settled with %s',
      async (kind) => {
        const queue = await queues.open();
        const [claim] = await queue.makeActive(['a']);
        await queue.store.abort('a');
        const outcome = kind === 'retry' ? { kind, delay: 1 } : kind === 'dead' ? { kind, error: '{}' } : { kind };
        expect(await queue.settle(claim, outcome)).toBe(false);
        expect(await queue.stateOf('a')).toBeNull();
      },
    );

    it('a settled or aborted message cannot be aborted', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a', 'b']);
      await queue.settle(claim, { kind: 'ack' });
      expect(await queue.store.abort('a')).toBe(false);
      expect(await queue.store.abort('b')).toBe(true);
      expect(await queue.secondView.abort('b')).toBe(false);
    });

    it('the other messages of the same claim stay active', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b', 'c');
      const claims = await queue.claim(3);
      expect(await queue.store.abort('b')).toBe(true);
      const [a, b, c] = claims;
      expect(await queue.store.extend(claims, HOUR)).toEqual([b]);
      expect([await queue.settle(a, { kind: 'ack' }), await queue.settle(c, { kind: 'ack' })]).toEqual([true, true]);
      expect(await queue.leftovers()).toEqual([]);
    });

    it('a message whose lease has expired can be aborted until a transfer recovers it', async () => {
      const queue = await queues.open();
      await queue.makeActive(['a'], SHORT_LEASE);
      await queue.advance(SHORT_LEASE + 5);
      expect(await queue.store.abort('a')).toBe(true);
      expect(await queue.transfer()).toMatchObject({ moved: 0, recovered: 0, deadLettered: [] });
    });

    it('every process learns of an abort and which claim it ended', async () => {
      const queue = await queues.open();
      const ids = ['a', 'b c', ' d ', 'ünïcode'];
      const claims = await queue.makeActive(ids);
      const announced: Claim[][] = [[], []];
      const stops = [queue.store, queue.secondView].map((view, i) =>
        view.watchDue({
          onEarlierDue: () => undefined,
          onAbort: (claim) => announced[i]!.push(claim),
          onListening: () => undefined,
        }),
      );
      // A store may listen to several channels, which begin one after the other.
      const isOther = ({ id }: Claim) => !ids.includes(id);
      let others = 0;
      await until(async () => {
        const id = `other ${others++}`;
        await queue.makeActive([id]);
        await queue.store.abort(id);
        return announced.every((each) => each.some(isOther));
      });
      for (const id of ids) expect(await queue.secondView.abort(id)).toBe(true);
      const expected = expect.arrayContaining(claims.map(defined)) as unknown as Claim[];
      for (const each of announced) {
        await until(() => ids.every((id) => each.some((claim) => claim.id === id)));
        expect(each.filter((claim) => !isOther(claim))).toEqual(expected);
      }
      stops.forEach((stop) => stop());
    });
  });
}
