import { describe, expect, it } from '@jest/globals';
import { wrapPutOff } from '../../../lib/message/codec/body-forms.js';
import type { Retries } from '../../../lib/message/retries.js';
import { LEASE_EXPIRED } from '../../../lib/store/consumer-store.js';
import { type ContractQueue, type ContractQueues, defined, HOUR, SHORT_LEASE } from '../contract-queue.js';

/** For stores whose messages may have their own attempts. */
export function describeRetries(queues: ContractQueues): void {
  const bodyOf = (queue: ContractQueue, retries: Retries) =>
    queue.codec.encode({ type: 't', payload: 'x', headers: {}, retries, expiry: { after: HOUR } });
  const makeActive = async (queue: ContractQueue, body: string | Buffer) => {
    await queue.store.offer([{ id: 'a', due: { at: 1_000_000 }, onDuplicate: 'keep', body }]);
    await queue.transfer();
    return queue.claim(1, SHORT_LEASE);
  };
  const loseLease = async (queue: ContractQueue) => {
    await queue.advance(SHORT_LEASE + 1);
    return queue.transfer();
  };
  const bodies: [string, (body: Buffer) => string | Buffer][] = [
    ['', (body) => body],
    [', even if it was put off', (body) => wrapPutOff(body, 5)],
    [', even if an older version has removed its rule', (body) => Buffer.concat([Buffer.from('Nprogress\n3\n'), body])],
  ];

  describe('a message with its own attempts', () => {
    it.each(bodies)(
      'is ready again after as many expired leases as its queue allows, if it has more%s',
      async (_, wrap) => {
        const queue = await queues.open({ attempts: 2 });
        await makeActive(queue, wrap(Buffer.from(bodyOf(queue, { attempts: 4 }))));
        for (const failed of [1, 2, 3]) {
          expect(await loseLease(queue)).toMatchObject({ recovered: 1, deadLettered: [], ready: 1 });
          expect(await queue.find('a')).toMatchObject({ state: 'ready', failedAttempts: failed });
          await queue.claim(1, SHORT_LEASE);
        }
        expect(await loseLease(queue)).toMatchObject({ recovered: 0, deadLettered: ['a'], ready: 0 });
        const letter = await queue.find('a');
        expect(letter).toMatchObject({ state: 'dead', failedAttempts: 4 });
        expect(JSON.parse(defined(letter.death).error)).toEqual(LEASE_EXPIRED);
      },
    );

    it('dies with the last of its expired leases if it has as many as its queue', async () => {
      const queue = await queues.open({ attempts: 1 });
      await makeActive(queue, bodyOf(queue, { attempts: 1 }));
      expect(await loseLease(queue)).toMatchObject({ recovered: 0, deadLettered: ['a'] });
    });

    it('is ready again if it has fewer than its queue, and whoever claims it dead-letters it without another attempt', async () => {
      const queue = await queues.open({ attempts: 3 });
      await makeActive(queue, bodyOf(queue, { attempts: 1 }));
      expect(await loseLease(queue)).toMatchObject({ recovered: 1, deadLettered: [] });
      const [claim] = await queue.claim();
      expect(await queue.settle(claim, { kind: 'dead', error: '{"name":"E"}', by: 'lease' })).toBe(true);
      expect(await queue.find('a')).toMatchObject({ state: 'dead', failedAttempts: 1 });
    });

    it('keeps them after a redrive', async () => {
      const queue = await queues.open({ attempts: 1 });
      const body = bodyOf(queue, { attempts: 2 });
      const [claim] = await makeActive(queue, body);
      await queue.settle(claim, { kind: 'dead', error: '{"name":"E"}' });
      expect(await queue.store.redrive({ id: 'a' }, { unwrap: true })).toBe(1);
      await queue.transferSomething();
      await queue.claim(1, SHORT_LEASE);
      expect(await loseLease(queue)).toMatchObject({ recovered: 1, deadLettered: [] });
      expect(queue.codec.decode((await queue.find('a')).body).retries).toEqual({ attempts: 2 });
    });

    it('has those of its queue if it has only its own backoff', async () => {
      const queue = await queues.open({ attempts: 1 });
      await makeActive(queue, bodyOf(queue, { backoff: { type: 'fixed', delay: 5, jitter: 0 } }));
      expect(await loseLease(queue)).toMatchObject({ recovered: 0, deadLettered: ['a'] });
    });

    it('is counted by its type', async () => {
      const queue = await queues.open();
      await queue.store.offer([
        { id: 'a', due: { after: HOUR }, onDuplicate: 'keep', body: bodyOf(queue, { attempts: 1 }) },
      ]);
      expect((await queue.store.countTypes()).counts).toEqual([{ state: 'delayed', type: 't', count: 1 }]);
    });
  });
}
