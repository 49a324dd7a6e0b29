import { describe, expect, it } from '@jest/globals';
import { DelayQueueError } from '../../lib/message/delay-queue-errors.js';
import { partitionOf } from '../../lib/message/partition-of.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { StoreDeadLetters } from '../../lib/producer/dead-letters.js';
import { StoredGroup } from '../../lib/groups/message-group.js';
import { routerOf } from '../../lib/runtime/open-queue.js';
import type { QueueRegistrar } from '../../lib/runtime/queue-registrar.js';
import { Queue } from '../../lib/runtime/queues.js';
import { MemoryQueueDirectory, MemoryStores } from '../../lib/store/memory/memory-stores.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import { wrapGroup } from '../support/of-group.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { WholeQueue } from '../../lib/store/whole-queue.js';
import { ManualClock } from '../support/manual-clock.js';

const PARTITIONS = 4;
const options = resolveQueueOptions({ partitions: PARTITIONS, groups: { concurrency: 1 } });
const registrar = { register: () => undefined } as unknown as QueueRegistrar;

const notSent = () => new DelayQueueError('NOT_CONNECTED', 'Redis is not reachable: nothing was written.');
const unknown = () => new DelayQueueError('OUTCOME_UNKNOWN', 'The connection broke.');

/** A queue of four partitions and groups, with delayed messages in each of them, or with dead ones. */
async function newQueue({ areDead = false } = {}) {
  const clock = new ManualClock();
  const all = new MemoryStores(new MemoryQueueDirectory(), (_, limits) => new MemoryMessageStore({ limits, clock }));
  const queue = new Queue('orders', options, routerOf(all.open('orders', PARTITIONS, options)));
  const { stores } = queue.router;
  const offer = (place: number, id: string, body = 'J1') =>
    stores[place]!.offer([{ id, due: { after: areDead ? 0 : 1000 }, onDuplicate: 'reject', body }]);
  for (let i = 0; i < 40; i++) await offer(partitionOf(`m${i}`, PARTITIONS), `m${i}`);
  for (let i = 0; i < 10; i++) await offer(PARTITIONS, `g${i}`, wrapGroup(`J${i}`, 'a').toString());
  if (areDead) for (const store of stores) await deadLetter(store);
  const counts = async () => (await queue.store.status()).counts;
  return { queue, stores, counts };
}

async function deadLetter(store: MessageStore): Promise<void> {
  await store.transfer({ limit: 1000 });
  for (;;) {
    const { messages } = await store.claim({ token: 't', limit: 1000, lease: 1000 });
    if (messages.length === 0) return;
    const outcome = { kind: 'dead', error: '{"name":"E"}' } as const;
    await store.settle(messages.map(({ id }) => ({ claim: { id, token: 't' }, outcome })));
  }
}

async function failureOf(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DelayQueueError);
  return error as DelayQueueError & { cause: AggregateError };
}

describe('a write to a whole queue', () => {
  it('is carried out wherever possible, and says where it was not', async () => {
    const { queue, stores, counts } = await newQueue();
    const left = (await stores[1]!.status()).counts.delayed + (await stores[3]!.status()).counts.delayed;
    stores[1]!.clear = () => Promise.reject(notSent());
    stores[3]!.clear = () => Promise.reject(unknown());
    const { code, message, cause } = await failureOf(queue.store.clear());
    expect(code).toBe('OUTCOME_UNKNOWN');
    expect(message).toBe(
      `clear was carried out in 3 of 5 parts of the queue, and has changed messages: ${50 - left}. ` +
        'Failed: partition 1, partition 3 (NOT_CONNECTED, OUTCOME_UNKNOWN). See `cause.errors`, then call it again.',
    );
    expect(cause.errors.map(({ code, message }: DelayQueueError) => [code, message])).toEqual([
      ['NOT_CONNECTED', 'partition 1: Redis is not reachable: nothing was written.'],
      ['OUTCOME_UNKNOWN', 'partition 3: The connection broke.'],
    ]);
    expect((await counts()).delayed).toBe(left);
  });

  it.each(['pause', 'resume'] as const)(
    'reports the messages with groups as a part of the queue: %s',
    async (method) => {
      const { queue, stores } = await newQueue();
      stores[PARTITIONS]![method] = () => Promise.reject(notSent());
      const { code, message } = await failureOf(queue.store[method]());
      expect(code).toBe('OUTCOME_UNKNOWN');
      expect(message).toMatch(
        `${method} was carried out in 4 of 5 parts of the queue. Failed: the messages with groups (NOT_CONNECTED).`,
      );
    },
  );

  it('says that nothing was written if this is certain for every part', async () => {
    const { queue, stores } = await newQueue();
    for (const store of stores) store.pause = () => Promise.reject(notSent());
    const { code, message, cause } = await failureOf(queue.store.pause());
    expect(code).toBe('NOT_CONNECTED');
    expect(message).toMatch(/^pause failed for partition 0, .*: Redis is not reachable: nothing was written\.$/);
    expect(cause.errors).toHaveLength(5);
  });

  it('fails like its only part if there is only one', async () => {
    const store = new MemoryMessageStore({ limits: options, clock: new ManualClock() });
    const all = new MemoryStores(new MemoryQueueDirectory(), () => store);
    const queue = new WholeQueue(routerOf(all.open('orders', 1, { ...options, groups: null })));
    const error = notSent();
    store.clear = () => Promise.reject(error);
    expect(await failureOf(queue.clear())).toBe(error);
  });

  it.each(['redriveAll', 'discardAll'] as const)('counts what it changed before it failed: %s', async (method) => {
    const { queue, stores } = await newQueue({ areDead: true });
    const own = (await stores[2]!.status()).counts.dead;
    stores[2]!.redrive = stores[2]!.discard = () => Promise.reject(notSent());
    const { code, message } = await failureOf(new StoreDeadLetters(queue, registrar)[method]());
    expect(code).toBe('OUTCOME_UNKNOWN');
    expect(message).toMatch(
      `${method} was carried out in 4 of 5 parts of the queue, and has changed messages: ${50 - own}.`,
    );
    expect(message).toMatch('Failed: partition 2 (NOT_CONNECTED)');
  });

  it('counts the batches that a partition completed before one failed: discardAll', async () => {
    const limits = { ...options, maxDeadLetters: 5000, groups: null };
    const store = new MemoryMessageStore({ limits, clock: new ManualClock() });
    const offers = Array.from({ length: 2500 }, (_, i) => `m${i}`);
    for (const id of offers) await store.offer([{ id, due: { after: 0 }, onDuplicate: 'reject', body: 'J' }]);
    for (let i = 0; i < 3; i++) await store.transfer({ limit: 1000 });
    for (const token of ['t', 'u', 'v']) {
      const { messages } = await store.claim({ token, limit: 1000, lease: 1000 });
      const outcome = { kind: 'dead', error: '{"name":"E"}' } as const;
      await store.settle(messages.map(({ id }) => ({ claim: { id, token }, outcome })));
    }
    const discard = store.discard.bind(store);
    let calls = 0;
    store.discard = (selection) => (++calls === 2 ? Promise.reject(notSent()) : discard(selection));
    const stores = new MemoryStores(new MemoryQueueDirectory(), () => store).open('orders', 1, limits);
    const queue = new Queue('orders', options, routerOf(stores));
    const { code, message } = await failureOf(new StoreDeadLetters(queue, registrar).discardAll());
    expect(code).toBe('OUTCOME_UNKNOWN');
    expect(message).toMatch('has changed messages: 1000. Failed: partition 0 (NOT_CONNECTED)');
  });
});

describe('a write to all messages of a group', () => {
  const groupOf = ({ router }: Queue) =>
    new StoredGroup(
      {
        store: router.groups!,
        canExpire: true,
        rules: { concurrency: 1, onRetry: 'hold' },
        register: () => undefined,
        show: ({ id }) => id,
      },
      'a',
    );

  it('says what it has changed, and for which messages it failed', async () => {
    const { queue, stores } = await newQueue();
    const store = stores[PARTITIONS]!;
    const cancel = store.cancel.bind(store);
    store.cancel = (id) => (id === 'g3' ? Promise.reject(notSent()) : cancel(id));
    const { code, message, cause } = await failureOf(groupOf(queue).cancelAll());
    expect(code).toBe('OUTCOME_UNKNOWN');
    expect(message).toMatch("cancelAll has changed messages: 9. Failed: message 'g3' (NOT_CONNECTED)");
    expect(cause.errors).toMatchObject([{ code: 'NOT_CONNECTED', messageId: 'g3' }]);
  });

  it('fails with NOT_REPLICATED if everything was changed but replicas are missing', async () => {
    const { queue, stores } = await newQueue();
    const missing = () => Promise.reject(new DelayQueueError('NOT_REPLICATED', 'not copied'));
    stores[PARTITIONS]!.reschedule = missing;
    const { code, message } = await failureOf(groupOf(queue).rescheduleAll('1h'));
    expect(code).toBe('NOT_REPLICATED');
    expect(message).toMatch('rescheduleAll has changed messages: 10.');
  });
});
