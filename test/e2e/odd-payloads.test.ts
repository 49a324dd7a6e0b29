import { describe, expect, test } from '@jest/globals';
import type { DelayQueueProducer } from '../../lib/index.js';
import { type PayloadCodec, redisson, redissonQueue } from '../../lib/redisson/index.js';
import { redissonKeys } from '../../lib/redisson/redisson-keys.js';
import { ODD_RESULTS, ODD_VALUES } from '../support/odd-values.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';

const throws = (value: unknown) => (): never => {
  throw value;
};

/** Encodes to text, and decodes with `decode`. */
const codecOf = (decode: (text: string) => unknown): PayloadCodec => ({
  encode: (payload) => Buffer.from(String(payload)),
  decode: (bytes) => decode(bytes.toString()),
});

describe("a payload's or a codec's own code", () => {
  const scene = new Scene();

  /** Runs `use` with a queue in the layout of Redisson and removes the queue afterwards. */
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

  test('that throws fails its own offer, and the others of the same turn are accepted', async () => {
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

  test('that throws keeps a whole list out, and the error names the index of the message', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    const payloads = [1, { toJSON: throws(undefined) }, 3];
    const list = payloads.map((payload) => ({ payload, delay: '1h' }));
    await expect(producer.offerMany(queue, list)).rejects.toThrow('messages[1]: payload: it cannot be read');
    expect(await producer.counts(queue)).toMatchObject({ delayed: 0 });
  });

  test('may make offers itself, and both messages are accepted', async () => {
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

  test('that encodes to junk fails its own offer, and another one of the same turn is accepted', () => {
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

  test('that reuses its memory for encoding changes no message waiting to be sent', () => {
    const memory = Buffer.alloc(1);
    const codec: PayloadCodec = { encode: (text) => (memory.write(String(text)), memory), decode: String };
    return withQueue(codec, async (producer, queue) => {
      await Promise.all(['a', 'b', 'c'].map((text) => producer.offer(queue, text, '1h')));
      expect(await redissonQueue(producer, queue).readAll()).toEqual(['a', 'b', 'c']);
    });
  });

  test('that fails to decode hides no other message, and its bytes are not lost', () => {
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

  test('that decodes to a thenable is never called by an await', () => {
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
