import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayQueue, payload } from '../../lib/index.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';
import { type OutboxApp, OutboxScene, type RunningServer } from './outbox-scene.js';

const MINUTE = 60_000;

/** Waits until the relays have nothing left to do. */
export async function relayed(app: OutboxApp): Promise<void> {
  await until(async () => (await app.outbox.status()).waiting === 0, { within: 30_000, every: 20 });
}

class Rolled extends Error {}

const ownIds = (count: number) => Array.from({ length: count }, (_, i) => ({ payload: i, delay: '1h' as const }));
const sameId = (id: string, count: number) =>
  ownIds(count).map((request) => ({ ...request, id, onDuplicate: 'replace' as const }));

/** The rules that hold with every database and every library. */
export function describeOutbox(library: string, startServer: () => Promise<RunningServer>): void {
  const scene = new OutboxScene(library, startServer);
  const delayed = async ({ producer }: OutboxApp, queue: string) => (await producer.list(queue, 'delayed')).messages;
  const rollBack = (work: (transaction: object) => Promise<unknown>) =>
    expect(
      scene.transact(async (transaction) => {
        await work(transaction);
        throw new Rolled();
      }),
    ).rejects.toThrow(Rolled);

  describe('an offer in a transaction', () => {
    it('is in the queue under the returned id after the commit, but not before', async () => {
      const app = await scene.startApp();
      const queue = scene.newQueue();
      const before = Date.now();
      const id = await scene.transact(async (transaction) => {
        const receipt = await app.outbox.offer(transaction, queue, { orderId: 'o-1' }, '30m', { headers: { a: 'b' } });
        expect(await app.producer.find(queue, receipt.id)).toBeNull();
        return receipt.id;
      });
      await relayed(app);
      const message = await app.producer.find(queue, id);
      expect(message).toMatchObject({ state: 'delayed', payload: { orderId: 'o-1' }, headers: { a: 'b' }, type: '' });
      expect(message!.dueAt.getTime()).toBeGreaterThanOrEqual(before + 30 * MINUTE - 50);
      expect(message!.dueAt.getTime()).toBeLessThan(Date.now() + 30 * MINUTE);
    });

    it('has no effect if the transaction rolls back', async () => {
      const app = await scene.startApp();
      const queue = scene.newQueue();
      await rollBack(async (transaction) => app.outbox.offer(transaction, queue, 'rolled back', '30m'));
      await scene.transact(async (transaction) => app.outbox.offer(transaction, queue, 'committed', '30m'));
      await relayed(app);
      expect((await delayed(app, queue)).map((message) => message.payload)).toEqual(['committed']);
    });

    it('keeps its id, type and bytes', async () => {
      const app = await scene.startApp();
      const queue = scene.newQueue();
      await scene.transact(async (transaction) => {
        await app.outbox.offer(transaction, queue, Buffer.from([0, 255]), '30m', { id: 'ü €😀', type: 't' });
      });
      await relayed(app);
      expect(await app.producer.find(queue, 'ü €😀')).toMatchObject({ payload: Buffer.from([0, 255]), type: 't' });
    });

    it('keeps its due instant', async () => {
      const app = await scene.startApp();
      const queue = scene.newQueue();
      const at = new Date('2040-02-29T09:00:00Z');
      await scene.transact(async (transaction) => {
        await app.outbox.offerAt(transaction, queue, null, at, { id: 'a' });
        await app.outbox.offerMany(transaction, queue, [{ payload: 1, at, id: 'b' }]);
      });
      await relayed(app);
      expect((await delayed(app, queue)).map(({ id, dueAt }) => ({ id, dueAt }))).toEqual([
        { id: 'a', dueAt: at },
        { id: 'b', dueAt: at },
      ]);
    });

    it('is handled', async () => {
      const queue = scene.newQueue();
      const handled: unknown[] = [];
      const app = await scene.startApp({ providers: [handlerOf(queue, (given) => void handled.push(given))] });
      await scene.transact(async (transaction) =>
        app.outbox.offer(transaction, queue, { text: 'ü€😀\u0000"\\?$1' }, 10),
      );
      await until(() => handled.length > 0);
      expect(handled).toEqual([{ text: 'ü€😀\u0000"\\?$1' }]);
    });
  });

  it('makes many offers in order', async () => {
    const app = await scene.startApp();
    const queue = scene.newQueue();
    const payloads = Array.from({ length: 1203 }, (_, i) => i);
    const receipts = await scene.transact(async (transaction) =>
      app.outbox.offerMany(
        transaction,
        queue,
        payloads.map((i) => ({ payload: i, at: new Date('2040-01-01') })),
      ),
    );
    await relayed(app);
    expect(await app.producer.counts(queue)).toMatchObject({ delayed: 1203 });
    const { messages } = await app.producer.list(queue, 'delayed', { limit: 1000 });
    expect(messages.map(({ id }) => id)).toEqual(receipts.slice(0, 1000).map(({ id }) => id));
    expect(messages.map(({ payload }) => payload)).toEqual(payloads.slice(0, 1000));
  });

  describe('the operations on one message', () => {
    it('are carried out in the order of their commits', async () => {
      const app = await scene.startApp({ outbox: { batchSize: 3 } });
      const queue = scene.newQueue();
      await app.outbox.pause();
      for (let i = 0; i < 5; i++) {
        const id = `m-${i}`;
        await scene.transact(async (transaction) => {
          await app.outbox.offer(transaction, queue, 'first', '1h', { id });
          await app.outbox.reschedule(transaction, queue, id, new Date('2040-01-01'));
        });
        await scene.transact(async (transaction) => app.outbox.cancel(transaction, queue, id));
        await scene.transact(async (transaction) => app.outbox.offer(transaction, queue, 'second', '2h', { id }));
      }
      await app.outbox.resume();
      await relayed(app);
      const messages = await delayed(app, queue);
      expect(messages).toHaveLength(5);
      for (const { payload, dueAt } of messages) {
        expect(payload).toBe('second');
        expect(dueAt.getTime()).toBeLessThan(Date.now() + 121 * MINUTE);
      }
    });

    it('keep their order with several relays', async () => {
      const apps = [
        await scene.startApp({ outbox: { batchSize: 2 } }),
        await scene.startApp({ outbox: { batchSize: 2 } }),
      ];
      const [app] = apps as [OutboxApp, OutboxApp];
      const queue = scene.newQueue();
      await app.outbox.pause();
      for (let i = 0; i < 40; i++) {
        await scene.transact(async (transaction) => {
          await app.outbox.offer(transaction, queue, i, '1h', { id: `m-${i}` });
          if (i % 2 === 0) await app.outbox.cancel(transaction, queue, `m-${i}`);
        });
      }
      await app.outbox.resume();
      await relayed(app);
      expect((await delayed(app, queue)).map(({ payload }) => payload).sort()).toEqual(
        Array.from({ length: 20 }, (_, i) => 2 * i + 1).sort(),
      );
    });
  });

  it('counts a delay from when its row is written, not from when it is relayed', async () => {
    const app = await scene.startApp();
    const queue = scene.newQueue();
    await app.outbox.pause();
    const before = Date.now();
    await scene.transact(async (transaction) => app.outbox.offer(transaction, queue, null, '10s', { id: 'm' }));
    const after = Date.now();
    await sleep(400);
    await app.outbox.resume();
    await relayed(app);
    const dueAt = (await app.producer.find(queue, 'm'))!.dueAt.getTime();
    expect(dueAt).toBeGreaterThanOrEqual(before + 10_000 - 2);
    expect(dueAt).toBeLessThan(after + 10_000 + 200);
  });

  it('applies onDuplicate to an offer whose id is in use', async () => {
    const app = await scene.startApp();
    const queue = scene.newQueue();
    for (const [payload, onDuplicate] of [['first'], ['kept away', 'keep'], ['third', 'replace']] as const) {
      await scene.transact(async (transaction) =>
        app.outbox.offer(transaction, queue, payload, '1h', { id: 'm', onDuplicate }),
      );
    }
    await relayed(app);
    expect((await delayed(app, queue)).map(({ payload }) => payload)).toEqual(['third']);
  });

  it('lets an offer set the expiry of its message', async () => {
    const app = await scene.startApp();
    const queue = scene.newQueue();
    await scene.transact(async (transaction) => {
      await app.outbox.offer(transaction, queue, 'late', 0, { id: 'm', expiresAfter: 0, onExpired: 'dead' });
      await app.outbox.offer(transaction, queue, 'kept', '1h', { id: 'kept', expiresAfter: '1m' });
    });
    await relayed(app);
    const expires = async (id: string) => (await app.producer.find(queue, id))?.expiresAt;
    const { dueAt } = (await app.producer.find(queue, 'kept'))!;
    expect(await expires('kept')).toEqual(new Date(dueAt.getTime() + MINUTE));
    expect(await expires('m')).toEqual((await app.producer.find(queue, 'm'))!.dueAt);
  });

  it('lets an offer and a reschedule set the attempts and the backoff of their message', async () => {
    const app = await scene.startApp();
    const queue = scene.newQueue();
    class Kinds extends DelayQueue(
      queue,
      { note: payload<number>(), remind: payload<number>() },
      { types: { remind: { attempts: 4, backoff: { type: 'exponential', delay: '2s' } } } },
    ) {}
    const { outbox } = app;
    await scene.transact(async (transaction) => {
      await outbox.offer(transaction, queue, 1, '1h', { id: 'own', attempts: 2, backoff: { type: 'fixed', delay: 5 } });
      await outbox.offer(transaction, Kinds, 'remind', 1, '1h', { id: 'typed' });
      await outbox.offerMany(transaction, Kinds, [
        { type: 'remind', payload: 1, delay: '1h', id: 'both', attempts: 1 },
        { type: 'note', payload: 1, delay: '1h', id: 'none' },
      ]);
    });
    await relayed(app);
    const found = async (id: string) => {
      const { attempts, backoff } = (await app.producer.find(queue, id))!;
      return [attempts, backoff?.delay];
    };
    expect(await found('own')).toEqual([2, 5]);
    expect(await found('typed')).toEqual([4, 2000]);
    expect(await found('both')).toEqual([1, 2000]);
    expect(await found('none')).toEqual([undefined, undefined]);
    await scene.transact(async (transaction) => {
      await outbox.reschedule(transaction, queue, 'own', '1h', { attempts: 7 });
      await outbox.reschedule(transaction, Kinds, 'none', '1h', { backoff: { type: 'fixed', delay: '1s' } });
    });
    await relayed(app);
    expect(await found('own')).toEqual([7, 5]);
    expect(await found('none')).toEqual([undefined, 1000]);
  });

  it('makes a debounced message due at most maxWait after the first offer', async () => {
    const app = await scene.startApp();
    const queue = scene.newQueue();
    const options = { id: 'm', onDuplicate: 'replace', maxWait: '10m' } as const;
    for (const payload of ['first', 'second']) {
      await scene.transact(async (transaction) => app.outbox.offer(transaction, queue, payload, '1h', options));
    }
    await relayed(app);
    const { payload, dueAt, offeredAt } = (await app.producer.find(queue, 'm'))!;
    expect(payload).toBe('second');
    expect(dueAt.getTime()).toBe(offeredAt.getTime() + 10 * MINUTE);
  });

  it('lets a reschedule change the contents of a message', async () => {
    const app = await scene.startApp();
    const queue = scene.newQueue();
    class Numbers extends DelayQueue(`${queue}-numbers`, payload<{ n: number }>()) {}
    await scene.transact(async (transaction) => {
      await app.outbox.offer(transaction, queue, { paid: false }, '1h', { id: 'm', headers: { a: '1' } });
      await app.outbox.reschedule(transaction, queue, 'm', '2h', { payload: Buffer.from('paid'), headers: { b: '2' } });
      await app.outbox.offer(transaction, Numbers, { n: 1 }, '1h', { id: 'n' });
      await app.outbox.reschedule(transaction, Numbers, 'n', '2h', { payload: { n: 2 } });
    });
    await relayed(app);
    expect(await app.producer.find(queue, 'm')).toMatchObject({ payload: Buffer.from('paid'), headers: { b: '2' } });
    expect(await app.producer.find(`${queue}-numbers`, 'n')).toMatchObject({ payload: { n: 2 } });
  });

  it('accepts offers to typed queues by their class', async () => {
    const app = await scene.startApp();
    const name = scene.newQueue();
    class Emails extends DelayQueue(`${name}-emails`, payload<{ to: string }>()) {}
    class Orders extends DelayQueue(`${name}-orders`, {
      remind: payload<{ nth: number }>(),
      cancel: payload<null>(),
    }) {}
    await scene.transact(async (transaction) => {
      await app.outbox.offer(transaction, Emails, { to: 'ada' }, '1h', { id: 'e' });
      await app.outbox.offer(transaction, Orders, 'remind', { nth: 1 }, '1h', { id: 'o-1' });
      await app.outbox.offerAt(transaction, Orders, 'cancel', null, new Date('2040-01-01'), { id: 'o-2' });
      await app.outbox.offerMany(transaction, Orders, [
        { type: 'remind', payload: { nth: 2 }, delay: '1h', id: 'o-3' },
      ]);
      await app.outbox.cancel(transaction, Orders, 'o-1');
      await app.outbox.reschedule(transaction, Orders, 'o-3', new Date('2041-01-01'));
    });
    await relayed(app);
    expect(await app.producer.find(`${name}-emails`, 'e')).toMatchObject({ payload: { to: 'ada' }, type: '' });
    expect(await delayed(app, `${name}-orders`)).toMatchObject([
      { id: 'o-2', type: 'cancel' },
      { id: 'o-3', type: 'remind', payload: { nth: 2 }, dueAt: new Date('2041-01-01') },
    ]);
  });

  it('parks a row that can never be relayed, with its error, until it is retried or discarded', async () => {
    const queue = scene.newQueue();
    const app = await scene.startApp({ module: { queues: { [queue]: { maxPayloadBytes: 100 } } } });
    const large = 'x'.repeat(200);
    await scene.transact(async (transaction) => {
      await app.outbox.offer(transaction, queue, large, '1h', { id: 'large-1' });
      await app.outbox.offer(transaction, queue, large, '1h', { id: 'large-2' });
      await app.outbox.offer(transaction, queue, 'small', '1h');
    });
    await until(async () => (await app.outbox.status()).failed === 2);
    await relayed(app);
    expect(await app.producer.counts(queue)).toMatchObject({ delayed: 1 });
    const failed = await app.outbox.failed();
    expect(failed).toMatchObject([
      {
        id: 'large-1',
        queue,
        operation: 'offer',
        payload: large,
        error: expect.stringMatching(/^PAYLOAD_TOO_LARGE: /),
      },
      { id: 'large-2' },
    ]);
    // The database has the result before the relay learns of it.
    await until(() => app.log.filter((line) => line.includes('parked')).length === 2);

    await app.close();
    const roomy = await scene.startApp();
    await roomy.outbox.retryFailed(failed.slice(0, 1));
    await roomy.outbox.discardFailed(failed.slice(1));
    await relayed(roomy);
    expect(await roomy.outbox.status()).toMatchObject({ waiting: 0, failed: 0 });
    expect((await delayed(roomy, queue)).map(({ id }) => id)).toContain('large-1');
    expect(await roomy.producer.counts(queue)).toMatchObject({ delayed: 2 });
  });

  it('keeps the rows of a full queue until it has space, and relays other rows', async () => {
    const [full, other] = [scene.newQueue(), scene.newQueue()];
    const app = await scene.startApp({ module: { queues: { [full]: { maxMessages: 1 } } } });
    await app.producer.offer(full, 'in the way', '1h', { id: 'first' });
    await scene.transact(async (transaction) => {
      await app.outbox.offer(transaction, full, 'second', '1h', { id: 'second' });
      await app.outbox.offer(transaction, other, 'other', '1h', { id: 'other' });
    });
    await until(async () => (await app.outbox.status()).waiting === 1);
    expect(await app.producer.find(other, 'other')).not.toBeNull();
    expect(await app.outbox.status()).toMatchObject({ failed: 0 });
    await app.producer.cancel(full, 'first');
    await relayed(app);
    expect(await app.producer.find(full, 'second')).not.toBeNull();
  });

  it('relays rows of other messages while one message has thousands of rows', async () => {
    const app = await scene.startApp({ outbox: { batchSize: 20 } });
    const queue = scene.newQueue();
    await app.outbox.pause();
    await scene.transact(async (transaction) => {
      await app.outbox.offerMany(transaction, queue, sameId(queue, 600));
      await app.outbox.offer(transaction, queue, 'other', '1h', { id: 'other' });
    });
    await app.outbox.resume();
    await until(async () => (await app.producer.find(queue, 'other')) !== null, { within: 30_000, every: 5 });
    // Each row of one message takes a separate lookup.
    expect((await app.outbox.status()).waiting).toBeGreaterThan(500);
  });

  it('relays rows of other queues while one queue refuses offers', async () => {
    const [full, other] = [scene.newQueue(), scene.newQueue()];
    const app = await scene.startApp({ module: { queues: { [full]: { maxMessages: 1 } } }, outbox: { batchSize: 20 } });
    await app.producer.offer(full, 'in the way', '1h', { id: 'first' });
    await app.outbox.pause();
    await scene.transact(async (transaction) => {
      await app.outbox.offerMany(transaction, full, sameId(full, 600));
      await app.outbox.offerMany(transaction, full, ownIds(600));
      await app.outbox.offer(transaction, other, 'other', '1h', { id: 'other' });
      await app.outbox.cancel(transaction, full, 'first');
    });
    await app.outbox.resume();
    await until(async () => (await app.producer.find(other, 'other')) !== null, { within: 3000, every: 5 });
    await until(async () => (await app.producer.find(full, 'first')) === null, { within: 3000, every: 5 });
    expect(app.log.filter((line) => line.includes('cannot be relayed')).length).toBeLessThanOrEqual(10);
    await until(async () => (await app.producer.counts(full)).delayed === 1, { within: 10_000 });
  });

  it('logs some of the rows that are parked for the same reason, and counts the others', async () => {
    const queue = scene.newQueue();
    const app = await scene.startApp({ module: { queues: { [queue]: { maxPayloadBytes: 100 } } } });
    await app.outbox.pause();
    const large = ownIds(300).map((request) => ({ ...request, payload: 'x'.repeat(200) }));
    await scene.transact((transaction) => app.outbox.offerMany(transaction, queue, large));
    await app.outbox.resume();
    await until(async () => (await app.outbox.status()).failed === 300, { within: 20_000 });
    await app.close();
    expect(app.log.filter((line) => line.includes('cannot be relayed'))).toHaveLength(10);
    expect(app.log).toContainEqual(
      expect.stringMatching(new RegExp(`290 more rows of .* of queue '${queue}' parked: PAYLOAD_TOO_LARGE`)),
    );
  });

  it('leaves rows with unknown operations to later versions, and keeps the order of their messages', async () => {
    const queue = scene.newQueue();
    const app = await scene.startApp({ outbox: { pollInterval: 50 } });
    await scene.write(`INSERT INTO %table (operation, queue, message_id, body, written_at_ms) VALUES ('abort', '${queue}', 'm', '{}', 0)`); // prettier-ignore
    await scene.transact(async (transaction) => {
      await app.outbox.offer(transaction, queue, 'behind it', '1h', { id: 'm' });
      await app.outbox.offer(transaction, queue, 'other', '1h', { id: 'other' });
    });
    await until(async () => (await app.producer.find(queue, 'other')) !== null);
    await until(async () => (await app.outbox.status()).waiting === 2);
    expect(await app.producer.find(queue, 'm')).toBeNull();
    expect(await app.outbox.status()).toMatchObject({ failed: 0 });
    await scene.write(`UPDATE %table SET operation = 'cancel' WHERE operation = 'abort'`);
    await relayed(app);
    expect(await app.producer.find(queue, 'm')).toMatchObject({ payload: 'behind it' });
  });

  it.each(['null', '7', '[', '"text"', '{"base64":7}', '{"encrypted":{"encryptedWith":"k:0"}}'])(
    'parks a row whose body is %s',
    async (body) => {
      const queue = scene.newQueue();
      const app = await scene.startApp();
      await scene.write(`INSERT INTO %table (operation, queue, message_id, body, delay_ms, written_at_ms) VALUES ('offer', '${queue}', 'm', '${body}', 0, 0)`); // prettier-ignore
      await scene.transact((transaction) => app.outbox.offer(transaction, queue, null, '1h'));
      await until(async () => (await app.outbox.status()).failed === 1);
      expect(await app.outbox.failed()).toMatchObject([
        { id: 'm', error: expect.stringMatching(/^UnreadableRow: body/) },
      ]);
    },
  );

  it('offers a message with its group', async () => {
    const queue = scene.newQueue();
    const app = await scene.startApp({ module: { queues: { [queue]: { groups: { concurrency: 1 } } } } });
    await scene.transact(async (transaction) => {
      await app.outbox.offer(transaction, queue, 1, '1h', { id: 'a', group: 'customer-7' });
      await app.outbox.offerMany(transaction, queue, [{ payload: 2, delay: '1h', id: 'b', group: 'customer-7' }]);
    });
    await relayed(app);
    expect(await app.producer.group(queue, 'customer-7').counts()).toMatchObject({ delayed: 2 });
    expect(await app.producer.find(queue, 'a')).toMatchObject({ group: 'customer-7' });
  });

  it('accepts several simultaneous pauses', async () => {
    const app = await scene.startApp();
    for (let round = 0; round < 10; round++) {
      await Promise.all([1, 2, 3, 4].map(() => app.outbox.pause()));
      expect(await app.outbox.status()).toMatchObject({ paused: true });
      await app.outbox.resume();
      expect(await app.outbox.status()).toMatchObject({ paused: false });
    }
  });

  it('relays nothing in any process while it is paused, and reports the pause', async () => {
    const [app, other] = [await scene.startApp(), await scene.startApp()];
    const queue = scene.newQueue();
    await app.outbox.pause();
    await app.outbox.pause();
    await scene.transact(async (transaction) => app.outbox.offer(transaction, queue, null, '1h'));
    await sleep(1200);
    expect(await other.outbox.status()).toMatchObject({ waiting: 1, paused: true });
    expect((await other.outbox.status()).oldest).toBeGreaterThan(1000);
    expect(await app.producer.counts(queue)).toMatchObject({ delayed: 0 });
    await other.outbox.resume();
    await relayed(app);
    expect(await app.outbox.status()).toMatchObject({ waiting: 0, paused: false, oldest: 0 });
    expect(await app.producer.counts(queue)).toMatchObject({ delayed: 1 });
  });

  it('only writes rows with relay: false', async () => {
    const app = await scene.startApp({ outbox: { relay: false } });
    const queue = scene.newQueue();
    await scene.transact(async (transaction) => app.outbox.offer(transaction, queue, null, '1h'));
    expect(await app.outbox.status()).toMatchObject({ waiting: 1, relay: { running: false } });
    await relayed(await scene.startApp());
    expect(await app.producer.counts(queue)).toMatchObject({ delayed: 1 });
  });

  it('refuses an object that is not a transaction, and writes nothing', async () => {
    const app = await scene.startApp({ outbox: { relay: false } });
    const given = Object.entries({ ...scene.library.outside, 'an object': {} });
    for (const [name, outside] of given) {
      const offered = app.outbox.offer(outside, scene.newQueue(), null, '1h');
      await expect(offered).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringMatching(new RegExp(`^transaction: .*${name}`)),
      });
    }
    expect(given.length).toBeGreaterThan(1);
    expect(await app.outbox.status()).toMatchObject({ waiting: 0 });
  });

  it('makes startup fail if the database lacks the table, and says how to create it', async () => {
    await expect(scene.startApp({ outbox: { table: 'not_there' } })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(/^OutboxModule: table: not_there .*npx nestjs-delay-queue-outbox migration/),
    });
  });
}
