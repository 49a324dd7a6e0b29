import { describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { z } from 'zod';
import { calendar } from '../../lib/calendar/index.js';
import { encryption } from '../../lib/encryption/index.js';
import {
  again,
  DelayedHandler,
  type DelayedMessage,
  DelayQueue,
  type DelayQueueEvents,
  DelayQueueModule,
  type DelayQueueModuleOptions,
  DelayQueueProducer,
  EncryptedPayload,
  RejectMessage,
} from '../../lib/index.js';
import { DelayQueueTester, DelayQueueTestingModule } from '../../lib/testing/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Handled } from '../support/handled.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { putMessage } from '../support/put-message.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const KEYS = { k1: Buffer.alloc(32, 1), k2: Buffer.alloc(32, 2) };
const K1 = encryption({ current: 'k1', keys: { k1: KEYS.k1 } });
const K2 = encryption({ current: 'k2', keys: KEYS });
const SECRET = '4111111111111111';
const BACKOFF = { type: 'fixed', delay: 20 } as const;

const STORES: [string, DelayQueueModuleOptions][] = [
  ['Redis', { defaults: { encryption: K1 } }],
  ['Redis with partitions', { defaults: { encryption: K1, partitions: 3 } }],
  ['Redis with groups', { defaults: { encryption: K1, groups: { concurrency: 1 } } }],
  ['memory', { store: 'memory', defaults: { encryption: K1 } }],
];

describe.each(STORES)('an encrypted queue, on %s', (_name, given) => {
  const scene = new Scene();
  const module = { calendar, ...given };
  const group = given.defaults?.groups === undefined ? undefined : 'acme';

  test('delivers payloads, headers and bytes as they were offered, also after a retry and with again()', async () => {
    const queue = scene.newQueue();
    const seen: [unknown, DelayedMessage['headers'], number][] = [];
    const handler = handlerOf(
      queue,
      (payload, { headers, attempt }) => {
        seen.push([payload, headers, attempt]);
        if (attempt === 1 && payload === SECRET) throw new Error('not yet');
        return payload === SECRET ? again(0, { payload: Buffer.from('bytes') }) : undefined;
      },
      { backoff: BACKOFF },
    );
    const { producer } = await scene.startApp({ module, providers: [handler] });
    await producer.offer(queue, SECRET, 0, { headers: { tenant: 'acme' }, group, expiresAfter: '1h' });
    await until(() => seen.length === 3);
    const headers = { tenant: 'acme' };
    expect(seen).toEqual([
      [SECRET, headers, 1],
      [SECRET, headers, 2],
      [Buffer.from('bytes'), headers, 1],
    ]);
  });

  test('finds, lists, searches, changes and counts messages as any other', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module });
    await producer.offerMany(queue, [
      { payload: { card: SECRET }, delay: '1h', id: 'a', type: 'charge', headers: { h: '1' }, group },
      { payload: 1, delay: '2h', id: 'b', type: 'charge', group },
    ]);
    const found = await producer.find(queue, 'a');
    expect(found).toMatchObject({ payload: { card: SECRET }, headers: { h: '1' }, type: 'charge' });
    const search = { state: 'delayed', text: SECRET } as const;
    expect(await producer.search(queue, search)).toEqual({
      messages: [expect.objectContaining({ id: 'a' })],
      cursor: null,
      examined: 2,
    });
    expect(await producer.reschedule(queue, 'a', '3h', { type: 'refund' })).toBe(true);
    expect(await producer.reschedule(queue, 'a', '3h', { payload: { card: 'none' } })).toBe(true);
    expect(await producer.find(queue, 'a')).toMatchObject({ payload: { card: 'none' }, headers: { h: '1' } });
    const counts = await producer.countsByType(queue);
    expect([...counts].map(([type, { delayed }]) => [type, delayed]).sort()).toEqual([
      ['charge', 1],
      ['refund', 1],
    ]);
  });

  test('keeps the error of a dead letter for those with keys, also through a redrive', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const handler = handlerOf(queue, (payload, message) => {
      handled.record(payload, message);
      if (handled.calls.length === 1) throw new RejectMessage(`card ${SECRET}`);
    });
    const dead: DelayQueueEvents['dead'][] = [];
    const observers = [
      { event: (event: { name: string }) => void (event.name === 'dead' && dead.push(event as never)) },
    ];
    const { producer } = await scene.startApp({ module: { ...module, observers }, providers: [handler] });
    await producer.offer(queue, { card: SECRET }, 0, { id: 'a', group });
    await until(async () => (await producer.counts(queue)).dead === 1);
    const letters = producer.deadLetters(queue);
    const { messages } = await letters.list();
    expect(messages).toMatchObject([{ payload: { card: SECRET }, error: { message: `card ${SECRET}` } }]);
    const { errors } = await letters.byError();
    expect(errors).toMatchObject([{ name: 'RejectMessage', message: `card ${SECRET}` }]);
    const { matched } = await producer.matching(queue, { state: 'dead', error: { name: 'RejectMessage' } }).count();
    expect(matched).toBe(1);
    await until(() => dead.length === 1);
    expect(dead[0]).toMatchObject({ failure: { message: `card ${SECRET}` } });
    expect(await letters.redrive('a')).toBe(true);
    await handled.untilCalls(2);
    expect(handled.payloads[1]).toEqual({ card: SECRET });
  });

  test('hands batches over, with the payload of each', async () => {
    const queue = scene.newQueue();
    const payloads: unknown[] = [];
    @Injectable()
    class Batches {
      @DelayedHandler(queue, { batch: 10 })
      handle(given: readonly unknown[]): void {
        payloads.push(...given);
      }
    }
    const { producer } = await scene.startApp({ module, providers: [Batches] });
    await producer.offerMany(
      queue,
      Array.from({ length: 20 }, (_, i) => ({ payload: i, delay: 0 })),
    );
    await until(() => payloads.length === 20);
    expect(new Set(payloads).size).toBe(20);
  });

  test('checks payloads with a schema before they are encrypted and after', async () => {
    const queue = scene.newQueue();
    class Cards extends DelayQueue(queue, z.object({ card: z.string().transform((card) => card.slice(-4)) })) {}
    const seen: unknown[] = [];
    @Injectable()
    class Handler {
      @DelayedHandler(Cards)
      handle(given: unknown): void {
        seen.push(given);
      }
    }
    const app = await scene.startApp({ module, providers: [Cards, Handler] });
    const cards = app.context.get(Cards);
    const refused = await refusalOf(cards.offer({ card: 7 } as never, 0));
    expect(refused).toMatchObject({ code: 'INVALID_PAYLOAD', message: expect.stringContaining('payload.card') });
    await cards.offer({ card: SECRET }, 0);
    await until(() => seen.length === 1);
    expect(seen).toEqual([{ card: '1111' }]);
    // Somebody else's offer, which the schema refuses once it is decrypted.
    await app.producer.offer(queue, { card: 7 }, 0, { id: 'b' });
    await until(async () => (await cards.counts()).dead === 1);
    expect((await cards.deadLetters().list()).messages).toMatchObject([{ id: 'b', error: { name: 'InvalidPayload' } }]);
  });
});

describe('an encrypted queue', () => {
  const scene = new Scene();
  const encrypted = { defaults: { encryption: K1 } };
  const plain = {};

  /** Everything that is stored of a queue. */
  const storedOf = async (queue: string): Promise<string> => {
    const texts = ['messages', 'errors', 'followers'].map(async (part) =>
      Object.entries(await scene.redis.hgetallBuffer(scene.key(queue, part))).map(String),
    );
    return (await Promise.all(texts)).flat().join();
  };

  test('shows neither payloads nor headers nor errors to anybody who can read Redis', async () => {
    const queue = scene.newQueue();
    const handler = handlerOf(
      queue,
      async (_payload, { id }) => {
        if (id === 'fails') throw new Error(`card ${SECRET}`);
        if (id === 'stays') await new Promise((resolve) => setTimeout(resolve, 1000));
      },
      { attempts: 1 },
    );
    const { producer } = await scene.startApp({ module: encrypted, providers: [handler] });
    const offer = (id: string, delay: number, onDuplicate?: 'follow') =>
      producer.offer(queue, { card: SECRET }, delay, { id, headers: { card: SECRET }, type: 'charge', onDuplicate });
    await Promise.all([offer('waits', 3_600_000), offer('fails', 0), offer('stays', 0)]);
    await until(async () => (await producer.counts(queue)).dead === 1 && (await producer.counts(queue)).active === 1);
    await offer('stays', 3_600_000, 'follow');
    await producer.reschedule(queue, 'waits', '2h', { payload: { card: SECRET, changed: true } });
    const stored = await storedOf(queue);
    for (const secret of [SECRET, 'card', 'changed', '"Error"']) expect(stored).not.toContain(secret);
    expect(stored.match(/Nencrypted\nk1:/g)).toHaveLength(4);
    expect(stored.match(/charge/g)).toHaveLength(4);
    expect(await producer.find(queue, 'waits')).toMatchObject({ payload: { card: SECRET, changed: true } });
  });

  test('is read with an old key after a rotation, and written with the new one', async () => {
    const queue = scene.newQueue();
    const before = await scene.startApp({ module: encrypted });
    await before.producer.offer(queue, 'old', '1h', { id: 'old' });
    await before.close();
    const handled = new Handled();
    const module = { defaults: { encryption: K2 } };
    const { producer } = await scene.startApp({ module, providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, 'new', '1h', { id: 'new' });
    const stored = await storedOf(queue);
    expect(stored).toContain('Nencrypted\nk1:');
    expect(stored).toContain('Nencrypted\nk2:');
    for (const id of ['old', 'new']) await producer.reschedule(queue, id, 0);
    await handled.untilCalls(2);
    expect(handled.payloads.sort()).toEqual(['new', 'old']);
  });

  test('is read by a process that only decrypts, which writes in plain, and messages that are plain are handled', async () => {
    const queue = scene.newQueue();
    const writer = await scene.startApp({ module: encrypted });
    await writer.producer.offer(queue, 'encrypted', 0);
    await writer.close();
    const handled = new Handled();
    const reading = encryption({ current: null, keys: KEYS });
    const module = { queues: { [queue]: { encryption: reading } } };
    const { producer } = await scene.startApp({ module, providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, 'plain', 0);
    await handled.untilCalls(2);
    await producer.offer(queue, 'plain', '1h');
    expect(await storedOf(queue)).toContain('J"plain"');
    const strict = encryption({ current: 'k1', keys: KEYS, plain: 'refuse' });
    const refusing = await scene.startApp({ module: { queues: { [queue]: { encryption: strict } } } });
    const { messages } = await refusing.producer.list(queue, 'delayed');
    expect(messages[0]!.payload).toEqual(Buffer.from('J"plain"'));
  });

  test.each([
    ['without keys', plain],
    ['with other keys', { defaults: { encryption: encryption({ current: 'k2', keys: { k2: KEYS.k2 } }) } }],
    [
      'with another key of the same id',
      { defaults: { encryption: encryption({ current: 'k1', keys: { k1: KEYS.k2 } }) } },
    ],
  ])('waits for another process if this one is %s, and is handled once the key is there', async (_, module) => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const writer = await scene.startApp({ module: encrypted });
    await writer.producer.offer(queue, SECRET, 0, { id: 'a', type: 't', group: undefined });
    const waiting: DelayQueueEvents['unknown-type'][] = [];
    const observers = [
      { event: (event: { name: string }) => void (event.name === 'unknown-type' && waiting.push(event as never)) },
    ];
    const providers = [handlerOf(queue, handled.record)];
    const blind = await scene.startApp({ module: { ...module, observers }, providers });
    await until(() => waiting.length === 1);
    expect(waiting).toMatchObject([
      { id: 'a', form: expect.stringMatching(/^encrypted:k1:[0-9a-f]{8}$/), isFirst: true },
    ]);
    expect(blind.log.join()).toMatch(/it is encrypted with key 'k1:\w{8}', which this process does not have/);
    await until(async () => (await blind.producer.counts(queue)).delayed === 1);
    const shown = await blind.producer.find(queue, 'a');
    expect(shown).toMatchObject({ state: 'delayed', type: 't', headers: {}, failedAttempts: 0 });
    expect(shown!.payload).toBeInstanceOf(EncryptedPayload);
    const refused = await refusalOf(blind.producer.reschedule(queue, 'a', 0, { payload: 1 }));
    expect(refused).toMatchObject({ code: 'INVALID_PAYLOAD', message: expect.stringContaining('does not have') });
    await blind.close();
    const sighted = await scene.startApp({ module: encrypted, providers });
    expect(await sighted.producer.reschedule(queue, 'a', 0)).toBe(true);
    expect(await handled.untilCalls(1)).toMatchObject({ payload: SECRET, attempt: 1 });
  });

  test('has a dead letter once unknownTypeGrace is over without a key, which a redrive with the key heals', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const providers = [handlerOf(queue, handled.record)];
    const writer = await scene.startApp({ module: encrypted });
    await writer.producer.offer(queue, SECRET, 0, { id: 'a' });
    const blind = await scene.startApp({ module: { defaults: { unknownTypeGrace: 0 } }, providers });
    await until(async () => (await blind.producer.counts(queue)).dead === 1);
    const [letter] = (await blind.producer.deadLetters(queue).list()).messages;
    expect(letter!.error).toMatchObject({
      name: 'UnreadableBody',
      message: expect.stringContaining('which this process does not have'),
    });
    await blind.close();
    const { producer } = await scene.startApp({ module: encrypted, providers });
    await producer.deadLetters(queue).redrive('a');
    expect(await handled.untilCalls(1)).toMatchObject({ payload: SECRET });
  });

  test('makes a changed body a dead letter that says so, and is never dropped', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ module: encrypted });
    await producer.offer(queue, SECRET, '1h', { id: 'a', type: 'charge' });
    const record = (await scene.redis.hgetBuffer(scene.key(queue, 'messages'), 'a'))!;
    const body = record.subarray(12);
    const keys = nativeKeys(scene.prefix, queue);
    const flipped = Buffer.from(body);
    flipped[flipped.length - 20]! ^= 1;
    await putMessage(scene.redis, keys, { id: 'changed', body: flipped });
    const retyped = Buffer.from(body.toString('latin1').replace('charge', 'refund'), 'latin1');
    await putMessage(scene.redis, keys, { id: 'retyped', body: retyped });
    const module = { defaults: { encryption: K1, maxDeadLetters: 0 } };
    const consumer = await scene.startApp({ module, providers: [handlerOf(queue, handled.record)] });
    await until(async () => (await consumer.producer.counts(queue)).dead === 2);
    const { messages } = await consumer.producer.deadLetters(queue).list();
    for (const { error, payload } of messages) {
      expect(error).toMatchObject({
        name: 'UnreadableBody',
        message: expect.stringContaining('somebody has changed it'),
      });
      expect(payload).toBeInstanceOf(EncryptedPayload);
    }
    expect(handled.calls).toEqual([]);
  });

  test('is shown as encrypted, and says that its text cannot be searched, in a process without keys', async () => {
    const queue = scene.newQueue();
    const writer = await scene.startApp({
      module: encrypted,
      providers: [handlerOf(queue, () => fail(), { attempts: 1 })],
    });
    const messages = [
      { payload: SECRET, delay: '1h', id: 'a', type: 'charge' },
      { payload: SECRET, delay: '1h', id: 'b', type: 'refund' },
      { payload: SECRET, delay: 0, id: 'c' },
    ];
    await writer.producer.offerMany(queue, messages);
    await until(async () => (await writer.producer.counts(queue)).dead === 1);
    await writer.close();
    const { producer } = await scene.startApp({ module: plain });
    await producer.offer(queue, { card: SECRET }, '1h', { id: 'plain' });
    const state = 'delayed' as const;
    const page = await producer.search(queue, { state, text: SECRET });
    expect(page).toMatchObject({ messages: [{ id: 'plain' }], examined: 3, encrypted: 2 });
    const typed = await producer.search(queue, { state, text: SECRET, type: 'charge' });
    expect(typed).toMatchObject({ messages: [], examined: 3, encrypted: 1 });
    expect(await producer.search(queue, { state, type: 'charge' })).toEqual({
      messages: [expect.objectContaining({ id: 'a' })],
      cursor: null,
      examined: 3,
    });
    const report = await producer.matching(queue, { state, text: SECRET }).cancel();
    expect(report).toMatchObject({ matched: 1, changed: 1, encrypted: 2, isComplete: true });
    const { errors } = await producer.deadLetters(queue).byError();
    expect(errors).toMatchObject([{ name: 'Encrypted', message: expect.stringContaining("with key 'k1:"), count: 1 }]);
  });

  test('gives messages that can be moved to another queue without the key', async () => {
    const [from, to] = [scene.newQueue(), scene.newQueue()];
    const writer = await scene.startApp({ module: encrypted });
    await writer.producer.offer(from, { card: SECRET }, '1h', { id: 'a', type: 'charge', headers: { h: '1' } });
    await writer.close();
    const seen: string[] = [];
    const observer = { offer: (_: unknown, next: (headers: object) => unknown) => next({ trace: '7' }) };
    const blind = await scene.startApp({ module: { observers: [observer as never] } });
    const found = await blind.producer.find(from, 'a');
    await blind.producer.offer(to, found!.payload, 0, { id: 'moved', type: 'charge' });
    const refused = await refusalOf(
      Promise.resolve().then(() => blind.producer.offer(to, found!.payload, 0, { headers: { h: '1' } })),
    );
    expect(refused).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('headers') });
    await blind.close();
    const handler = handlerOf(to, (payload, { id, headers }) => void seen.push(JSON.stringify([id, payload, headers])));
    await scene.startApp({ module: encrypted, providers: [handler] });
    await until(() => seen.length === 1);
    expect(seen).toEqual([JSON.stringify(['moved', { card: SECRET }, { h: '1' }])]);
  });

  test('does not change a repeating message that is offered again as it is', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { calendar, ...encrypted } });
    const repeat = (payload: unknown) => producer.repeat(queue, 'r', { cron: '0 0 1 1 *' }, payload);
    const bodyOf = () => scene.redis.hgetBuffer(scene.key(queue, 'messages'), 'r');
    expect(await repeat(SECRET)).toMatchObject({ created: true });
    const first = await bodyOf();
    expect(await repeat(SECRET)).toMatchObject({ created: false });
    expect(await bodyOf()).toEqual(first);
    await repeat('other');
    expect(await producer.find(queue, 'r')).toMatchObject({ payload: 'other' });
    const rotated = await scene.startApp({ module: { calendar, defaults: { encryption: K2 } } });
    await rotated.producer.repeat(queue, 'r', { cron: '0 0 1 1 *' }, 'other');
    expect((await bodyOf())!.toString('latin1')).toContain('Nencrypted\nk2:');
  });

  test('keeps the count and the pause of a repeating message that is offered again as it is', async () => {
    const queue = scene.newQueue();
    const handler = handlerOf(queue, () => undefined);
    const { producer } = await scene.startApp({ module: { ...encrypted }, providers: [handler] });
    const repeat = () => producer.repeat(queue, 'r', { every: '1s', limit: 1000 }, SECRET);
    const countOf = async () => (await producer.find(queue, 'r'))?.repeat?.count ?? 0;
    await repeat();
    await until(async () => (await countOf()) > 0);
    await producer.repeats(queue).pause('r');
    await until(async () => (await producer.find(queue, 'r'))?.state === 'delayed');
    const before = await producer.find(queue, 'r');
    expect(await repeat()).toMatchObject({ created: false });
    expect(await producer.find(queue, 'r')).toEqual(before);
    expect(before).toMatchObject({ payload: SECRET, repeat: { isPaused: true, limit: 1000 } });
    const extra = await producer.repeats(queue).runNow('r');
    await until(async () => (await producer.find(queue, extra!.id)) === null);
  });

  test('leaves a dead letter of each occurrence that failed, with its payload and error', async () => {
    const queue = scene.newQueue();
    const handler = handlerOf(queue, () => fail(), { attempts: 1 });
    const { producer } = await scene.startApp({ module: { calendar, ...encrypted }, providers: [handler] });
    await producer.repeat(queue, 'r', { cron: '* * * * * *' }, SECRET);
    await until(async () => (await producer.counts(queue)).dead >= 2);
    await producer.cancel(queue, 'r');
    const { messages } = await producer.deadLetters(queue).list();
    for (const letter of messages) expect(letter).toMatchObject({ payload: SECRET, error: { message: 'no' } });
    expect(messages[0]!.id).toMatch(/^\{r\}@/);
  });

  test('refuses payloads whose encrypted bytes exceed maxPayloadBytes, and layouts whose bodies cannot be encrypted', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { defaults: { encryption: K1, maxPayloadBytes: 131 } } });
    await producer.offer(queue, 'x'.repeat(100), '1h');
    const offer = () => producer.offer(queue, 'x'.repeat(101), '1h');
    expect(await refusalOf(Promise.resolve().then(offer))).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    const start = (queues: DelayQueueModuleOptions['queues']) =>
      refusalOf(scene.startApp({ module: { defaults: { encryption: K1 }, queues } }));
    expect(await start({ orders: { layout: redisson() } })).toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining("options of queue 'orders': encryption must be 'off' with layout 'redisson'"),
    });
    const mistaken = await refusalOf(scene.startApp({ module: { defaults: { encryption: SECRET as never } } }));
    expect(mistaken).toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining("'off' or what encryption()"),
    });
    expect(String(mistaken)).not.toContain(SECRET);
    const foreign = await scene.startApp({ module: { queues: { orders: { layout: redisson() } } } });
    const payload = new EncryptedPayload('k1:00000000', Buffer.alloc(30));
    const unsupported = await refusalOf(Promise.resolve().then(() => foreign.producer.offer('orders', payload, '1h')));
    expect(unsupported).toMatchObject({ code: 'UNSUPPORTED_BY_LAYOUT' });
  });
});

describe('the testing module, of an encrypted queue', () => {
  test('shows offers and outcomes as those of any other queue', async () => {
    const handler = handlerOf(
      'cards',
      (payload, { attempt }) => {
        if (payload === SECRET) return again('1h', { payload: 'done' });
        throw new Error(`attempt ${attempt}`);
      },
      { attempts: 1 },
    );
    const imports = [DelayQueueModule.forRoot({ defaults: { encryption: K1 } }), DelayQueueTestingModule];
    const module = await Test.createTestingModule({ imports, providers: [handler] }).compile();
    module.useLogger(false);
    await module.init();
    const [producer, tester] = [module.get(DelayQueueProducer), module.get(DelayQueueTester)];
    await producer.offer('cards', SECRET, '1h', { headers: { h: '1' } });
    expect(tester.offered('cards')).toMatchObject([{ payload: SECRET, headers: { h: '1' } }]);
    expect(await tester.handle('cards', SECRET)).toMatchObject({ kind: 'again', payload: 'done' });
    expect(await tester.handle('cards', 1)).toMatchObject({ kind: 'dead', error: { message: 'attempt 1' } });
    await tester.advance('3h');
    const { messages } = await producer.deadLetters('cards').list();
    expect(messages).toMatchObject([{ payload: 'done', error: { message: 'attempt 1' } }]);
    await module.close();
  });
});

function fail(): never {
  throw new Error('no');
}
