import { describe, expect, test } from '@jest/globals';
import type { DelayQueueProducer, QueueOptions } from '../../lib/index.js';
import { type PayloadCodec, redisson, redissonQueue } from '../../packages/redisson/src/index.js';
import { redissonKeys } from '../../packages/redisson/src/redisson-keys.js';
import { Handled } from '../support/handled.js';
import { type LayoutName, layouts } from '../support/layouts.js';
import { ODD_RESULTS, ODD_VALUES } from '../support/odd-values.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';

const throws = (value: unknown) => (): never => {
  throw value;
};

/** Encodes to text, and decodes with `decode`. */
const codecOf = (decode: (text: string) => unknown): PayloadCodec => ({
  encode: (payload) => Buffer.from(String(payload)),
  decode: (bytes) => decode(bytes.toString()),
});

describe('a payload', () => {
  const scene = new Scene();

  test('reaches the handler as it was offered, with headers of any characters', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    const payloads: Record<string, unknown> = {
      null: null,
      false: false,
      'an empty string': '',
      'strings of all kinds': 'line\nbreak \u2028 "quoted" \u0000 €😀',
      'nested data': { a: [1, { b: null }], c: 1.5e300 },
      'all bytes': Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
      'no bytes': Buffer.alloc(0),
      'a key __proto__': JSON.parse('{"__proto__":{"polluted":true},"a":1}') as unknown,
    };
    const headers = JSON.parse(
      '{"__proto__":"p","constructor":"c","a\\nb":"\\u0000\\r\\n\\ud83d\\ude00 \\" €","":""}',
    ) as Record<string, string>;
    for (const [id, payload] of Object.entries(payloads)) {
      await producer.offer(queue, payload, 0, { id });
      await producer.offer(queue, payload, 0, { id: `${id} with headers`, headers });
    }
    for (const [id, payload] of Object.entries(payloads)) {
      for (const each of [id, `${id} with headers`]) expect((await handled.until(each)).payload).toEqual(payload);
      const { message } = await handled.until(`${id} with headers`);
      expect(JSON.stringify(message.headers)).toBe(JSON.stringify(headers));
      expect(Object.getPrototypeOf(message.headers)).toBe(Object.prototype);
    }
    expect(Object.getPrototypeOf((await handled.until('a key __proto__')).payload)).toBe(Object.prototype);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test.each(Object.keys(layouts) as LayoutName[])(
    'is read back unchanged if it contains unpaired surrogates: %s',
    async (layout) => {
      const queue = scene.newQueue();
      const { producer } = await scene.startApp({ module: { queues: { [queue]: { layout: layouts[layout] } } } });
      const payload = { text: 'a\ud83d', '\udc00': ['\ud83c'] };
      const { id } = await producer.offer(queue, payload, '1h');
      expect(await producer.find(queue, id)).toMatchObject({ payload });
      await producer.clear(queue);
    },
  );

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['a BigInt', 1n],
    ['a promise that was not awaited', Promise.resolve(1)],
  ])('is rejected before anything is written if it is %s', async (_what, payload) => {
    const { producer } = await scene.startApp();
    const before = await scene.redis.keys(`${scene.prefix}:*`);
    await expect(producer.offer(scene.newQueue(), payload, 1)).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect(await scene.redis.keys(`${scene.prefix}:*`)).toHaveLength(before.length);
  });

  test.each(['redis', 'memory'] as const)(
    'is accepted if it has exactly maxPayloadBytes, and rejected if it has one byte more: %s',
    async (store) => {
      const cases: [payload: string | Buffer, headers: Record<string, string>, options: QueueOptions][] = [
        ['x'.repeat(98), {}, {}],
        ['€'.repeat(32) + 'xx', {}, {}],
        [Buffer.alloc(100), {}, {}],
        [Buffer.alloc(86), { a: 'tenant' }, {}],
        ['x'.repeat(84), { a: 'tenant' }, {}],
        ['x'.repeat(100), {}, { layout: redisson({ codec: 'string' }) }],
      ];
      const named = cases.map((each) => [scene.newQueue(), each] as const);
      const queues = Object.fromEntries(
        named.map(([queue, [, , options]]) => [queue, { ...options, maxPayloadBytes: 100 }]),
      );
      const { producer } = await scene.startApp({ module: { store, queues } });
      for (const [queue, [payload, headers]] of named) {
        const longer = typeof payload === 'string' ? `${payload}x` : Buffer.concat([payload, Buffer.alloc(1)]);
        await expect(producer.offer(queue, longer, '1h', { headers })).rejects.toMatchObject({
          code: 'PAYLOAD_TOO_LARGE',
          message: expect.stringContaining('take 101 bytes, more than maxPayloadBytes (100)'),
        });
        expect(await producer.counts(queue)).toMatchObject({ delayed: 0 });
        const { id } = await producer.offer(queue, payload, '1h', { headers });
        expect(await producer.find(queue, id)).toMatchObject({ payload });
        await producer.clear(queue);
      }
    },
  );
});

describe('application code in a payload or codec', () => {
  const scene = new Scene();

  /** Runs `use` with a queue in the Redisson layout and removes the queue afterwards. */
  async function withQueue(
    codec: PayloadCodec,
    use: (producer: DelayQueueProducer, queue: string) => Promise<void>,
  ): Promise<void> {
    const queue = scene.newQueue();
    const module = { queues: { [queue]: { layout: redisson({ codec }) } } };
    const { producer } = await scene.startApp({ module });
    try {
      await use(producer, queue);
    } finally {
      await scene.redis.unlink(Object.values(redissonKeys({ prefix: scene.prefix, queue })) as string[]);
    }
  }

  test('fails only its own offer if it throws, and the others from the same event-loop turn are accepted', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    const odd = Object.values(ODD_VALUES).map((make) => ({ toJSON: throws(make()) }));
    const sound = (name: string) => producer.offer(queue, name, '1h', { id: name });
    const refusals = odd.map((payload) => refusalOf(producer.offer(queue, payload, '1h')));
    const calls = [sound('before'), ...refusals, sound('after')];
    const [before, ...others] = await Promise.all(calls);
    expect([before, others.pop()]).toMatchObject([{ created: true }, { created: true }]);
    for (const refusal of others) expect(refusal).toMatchObject({ name: 'DelayQueueError', code: 'INVALID_PAYLOAD' });
    expect(await producer.counts(queue)).toMatchObject({ delayed: 2 });
  });

  test('makes a whole list fail if it throws, and the error names the index of the message', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    const payloads = [1, { toJSON: throws(undefined) }, 3];
    const list = payloads.map((payload) => ({ payload, delay: '1h' }));
    await expect(producer.offerMany(queue, list)).rejects.toThrow('messages[1]: payload: it cannot be read');
    expect(await producer.counts(queue)).toMatchObject({ delayed: 0 });
  });

  test('may itself make offers, which are also accepted', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    const inner: Promise<unknown>[] = [];
    const offerInner = (id: string) => inner.push(producer.offer(queue, id, '1h', { id }));
    const reentrant = (id: string) => ({ toJSON: () => (offerInner(`inner of ${id}`), id) });
    await Promise.all([
      producer.offer(queue, reentrant('a'), '1h', { id: 'a' }),
      producer.offerMany(queue, [{ payload: reentrant('b'), delay: '1h', id: 'b' }]),
      producer.offer(queue, { get c() { return offerInner('inner of c'); } }, '1h', { id: 'c' }), // prettier-ignore
    ]);
    await Promise.all(inner);
    for (const id of ['a', 'inner of a', 'b', 'inner of b', 'c', 'inner of c']) {
      expect(await producer.find(queue, id)).toMatchObject({ id, state: 'delayed' });
    }
  });

  test('fails only its own offer if it encodes to junk, and another offer from the same event-loop turn is accepted', () => {
    const odd: Readonly<Record<string, () => unknown>> = {
      ...ODD_VALUES,
      ...ODD_RESULTS,
      'a promise': () => Promise.resolve(Buffer.of(1)),
    };
    const codec: PayloadCodec = {
      encode: (name) => (name === 'sound' ? Buffer.from('sound') : (odd[name as string]!() as Buffer)),
      decode: String,
    };
    return withQueue(codec, async (producer, queue) => {
      const refusals = Object.keys(odd).map((name) => refusalOf(producer.offer(queue, name, '1h')));
      const [sound, ...others] = await Promise.all([producer.offer(queue, 'sound', '1h'), ...refusals]);
      expect(sound).toMatchObject({ created: true });
      for (const refusal of others) expect(refusal).toMatchObject({ code: 'INVALID_PAYLOAD' });
      expect(await producer.counts(queue)).toMatchObject({ delayed: 1 });
    });
  });

  test('does not change messages that wait to be sent if it reuses its encoding buffer', () => {
    const memory = Buffer.alloc(1);
    const codec: PayloadCodec = { encode: (text) => (memory.write(String(text)), memory), decode: String };
    return withQueue(codec, async (producer, queue) => {
      await Promise.all(['a', 'b', 'c'].map((text) => producer.offer(queue, text, '1h')));
      expect(await redissonQueue(producer, queue).readAll()).toEqual(['a', 'b', 'c']);
    });
  });

  test('does not hide other messages or lose bytes if it fails to decode', () => {
    const decode = (text: string) => (text === 'odd' ? throws(undefined)() : text);
    return withQueue(codecOf(decode), async (producer, queue) => {
      for (const text of ['odd', 'sound']) await producer.offer(queue, text, '1h', { id: text });
      expect(await producer.find(queue, 'odd')).toMatchObject({ payload: Buffer.from('odd') });
      const values = redissonQueue(producer, queue);
      expect(await values.readAll()).toEqual([Buffer.from('odd'), 'sound']);
      expect(await values.peek()).toEqual(Buffer.from('odd'));
      expect([await values.poll(), await values.poll(), await values.poll()]).toEqual([
        Buffer.from('odd'),
        'sound',
        null,
      ]);
    });
  });

  test('may decode to a thenable, whose then() is never called', () => {
    let calls = 0;
    const thenable = { then: () => calls++ };
    const getter = { get then() { return throws(new Error('do not touch'))(); } }; // prettier-ignore
    const decode = (text: string) => (text === 'getter' ? getter : thenable);
    return withQueue(codecOf(decode), async (producer, queue) => {
      for (const text of ['thenable', 'getter']) await producer.offer(queue, text, '1h', { id: text });
      expect((await producer.find(queue, 'thenable'))?.payload).toBe(thenable);
      const values = redissonQueue(producer, queue);
      const all = await values.readAll();
      expect(all[0]).toBe(thenable);
      expect(all[1]).toBe(getter);
      expect(await values.peek()).toEqual(Buffer.from('thenable'));
      expect(await values.poll()).toEqual(Buffer.from('thenable'));
      expect(await values.poll()).toEqual(Buffer.from('getter'));
      expect(calls).toBe(0);
    });
  });
});
