import { describe, expect, test } from '@jest/globals';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';

/** Names that no queue can have. */
const PLANTED = [
  '',
  ' ',
  '{a}',
  'a'.repeat(129),
  'tenant-\u001b[31m',
  'tenant-a\u202e',
  'tenant-{b}',
  'tenant-b}:{c',
  'tenant-*',
  'tenant-#1',
  'tenant-\n',
  ...[0xfd, 0xfe, 0xff].map((byte) => Buffer.from([...Buffer.from('tenant-a'), byte])),
];

describe('directory entries that cannot be names of queues', () => {
  const scene = new Scene();
  const directory = (part: string) => `${scene.prefix}:{@queues}:${part}`;

  const plant = async () => {
    for (const name of PLANTED) {
      await scene.redis.zadd(directory('names'), 0, name);
      await scene.redis.zadd(directory('handled'), 0, name);
      await scene.redis.hset(directory('registered'), name, 'stamp');
    }
  };

  test('are not listed, whatever the page size', async () => {
    await plant();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const names = ['a', 'tenant-a', 'tenant-aa', 'tenant-c', 'z'];
    for (const name of names) await producer.offer(name, null, '1h');
    for (const limit of [1, 2, 3, 1000]) {
      const found: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await producer.queues({ limit, ...(cursor !== undefined && { cursor }) });
        found.push(...page.queues);
        cursor = page.cursor;
      }
      expect(found).toEqual(names);
    }
  });

  test('do not prevent a family from handling its queues', async () => {
    await plant();
    const handled = new Handled();
    const { producer, log } = await scene.startApp({ providers: [handlerOf('tenant-*', handled.record)] });
    await scene.redis.publish(`${scene.prefix}:{tenant-{b}}:due`, '1 0');
    await producer.offer('tenant-d', 'ok', 0);
    await handled.untilCalls(1);
    const keys = await scene.redis.keys(`${scene.prefix}:*`);
    expect(keys.filter((key) => /\{b\}|\p{Control}|\u202e/u.test(key))).toEqual([]);
    expect(log.filter((line) => !line.startsWith('log '))).toEqual([]);
  });
});
