import { describe, expect, test } from '@jest/globals';
import { again } from '../../lib/index.js';
import { redissonQueue } from '../../packages/redisson/src/index.js';
import { layouts } from '../support/layouts.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const MIB = 1024 * 1024;
const LAYOUTS = ['native', 'redisson'] as const;
/** Payloads that take about 2 MiB in JSON. */
const PAYLOADS = {
  'of ASCII characters': 'x'.repeat(2 * MIB),
  // One character of a string takes three bytes, so the string is shorter than the limit.
  'of other characters': '€'.repeat(0.7 * MIB),
} as const;

describe.each(LAYOUTS)('again() with a payload beyond proto-max-bulk-len, in layout %s', (layout) => {
  const scene = new Scene({ args: ['--proto-max-bulk-len', '1mb'] });
  const defaults = { layout: layouts[layout], maxPayloadBytes: 8 * MIB, attempts: 1 };

  test.each(Object.entries(PAYLOADS))('fails only its own attempt: %s', async (_, large) => {
    const queue = scene.newQueue();
    const handled: unknown[] = [];
    const handle = ({ isLarge }: { isLarge: boolean }) => {
      handled.push(isLarge);
      return isLarge ? again('1h', { payload: large }) : undefined;
    };
    const { producer, log } = await scene.startApp({ module: { defaults }, providers: [handlerOf(queue, handle)] });
    await Promise.all([true, false, false].map((isLarge) => producer.offer(queue, { isLarge }, 0)));
    await until(async () => (await producer.counts(queue)).dead === 1 && handled.length === 3);
    const { messages: letters } = await producer.deadLetters(queue).list();
    const error = expect.objectContaining({ message: expect.stringMatching(/proto-max-bulk-len/) });
    expect(letters).toEqual([expect.objectContaining({ payload: { isLarge: true }, error })]);
    expect(log.filter((line) => /is down|settling failed/.test(line))).toEqual([]);
  });
});

describe('a search for a payload beyond proto-max-bulk-len in the Redisson layout', () => {
  const scene = new Scene({ args: ['--proto-max-bulk-len', '1mb'] });

  test('finds nothing and does not make other calls fail', async () => {
    const queue = scene.newQueue();
    const defaults = { layout: layouts.redisson, maxPayloadBytes: 8 * MIB };
    const { producer, log } = await scene.startApp({ module: { consume: false, defaults } });
    const values = redissonQueue(producer, queue);
    const large = PAYLOADS['of ASCII characters'];
    const answers = await Promise.all([
      producer.offer(queue, 'small', '1h').then(() => true),
      values.contains(large),
      values.remove(large),
    ]);
    expect(answers).toEqual([true, false, false]);
    expect(log.filter((line) => line.includes('is down'))).toEqual([]);
  });
});

describe.each(LAYOUTS)('an offer beyond proto-max-bulk-len, in layout %s', (layout) => {
  const scene = new Scene({ args: ['--proto-max-bulk-len', '1mb'] });
  const module = { consume: false, defaults: { layout: layouts[layout], maxPayloadBytes: 8 * MIB } } as const;
  const tooLarge = {
    code: 'PAYLOAD_TOO_LARGE',
    messageId: 'large',
    message: expect.stringMatching(/proto-max-bulk-len/),
  };

  test.each(Object.entries(PAYLOADS))('fails alone, and the offers around it are written: %s', async (_, large) => {
    const queue = scene.newQueue();
    const { producer, log } = await scene.startApp({ module });
    await producer.offer(queue, { n: 0 }, '1h', { id: 'before' });

    const others = ['a', 'b', 'c', 'd'];
    const offer = (id: string) => producer.offer(queue, { id }, '1h', { id });
    const [a, b, error, c, d] = await Promise.all([
      offer('a'),
      offer('b'),
      refusalOf(producer.offer(queue, { large }, '1h', { id: 'large' })),
      offer('c'),
      offer('d'),
    ]);
    expect(error).toMatchObject(tooLarge);
    expect([a, b, c, d]).toEqual(others.map((id) => expect.objectContaining({ id, created: true })));
    expect(await producer.counts(queue)).toMatchObject({ delayed: 5 });
    expect(log.filter((line) => line.includes('is down'))).toEqual([]);
  });

  test('is the only message of its list that is rejected', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module });
    const error = await refusalOf(
      producer.offerMany(
        queue,
        ['a', 'large', 'b'].map((id) => ({
          id,
          payload: { text: id === 'large' ? PAYLOADS['of ASCII characters'] : id },
          delay: '1h',
        })),
      ),
    );
    expect(error).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      message: expect.stringMatching(/1 of 3 offers were refused, the others were accepted.*proto-max-bulk-len/),
    });
    expect(await producer.counts(queue)).toMatchObject({ delayed: 2 });
  });

  test('is written once Redis accepts that size, and is read back completely', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module });
    const payload = { large: PAYLOADS['of other characters'] };
    await expect(producer.offer(queue, payload, '1h', { id: 'large' })).rejects.toMatchObject(tooLarge);
    await scene.redis.config('SET', 'proto-max-bulk-len', 8 * MIB);
    try {
      await producer.offer(queue, payload, '1h', { id: 'large' });
      expect(await producer.find(queue, 'large')).toMatchObject({ payload });
    } finally {
      await scene.redis.config('SET', 'proto-max-bulk-len', MIB);
    }
  });

  test('is sent for a user who may not query the limit, and written if Redis accepts it', async () => {
    const queue = scene.newQueue();
    await scene.redis.config('SET', 'proto-max-bulk-len', 8 * MIB);
    try {
      await scene.redis.call('ACL', 'SETUSER', 'unasking', 'on', '>secret', '~*', '&*', '+@all', '-getbit');
      const connection = scene.url.replace('redis://', 'redis://unasking:secret@');
      const { producer } = await scene.startApp({ module: { ...module, connection } });
      await producer.offer(queue, { large: PAYLOADS['of ASCII characters'] }, '1h', { id: 'large' });
      expect(await producer.counts(queue)).toMatchObject({ delayed: 1 });
    } finally {
      await scene.redis.config('SET', 'proto-max-bulk-len', MIB);
    }
  });
});
