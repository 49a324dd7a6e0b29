import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Handled } from '../support/handled.js';
import { randomName } from '../support/random-name.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Permissions whose lack ioredis or the module bears: names for CLIENT LIST, leaving a channel, the server's facts. */
const NOT_MISSED = ['+client|setname', '+unsubscribe', '+info'];

describe('a Redis user with the permissions that the documentation lists', () => {
  const scene = new Scene({});
  const rules: Record<string, string[]> = {};

  beforeAll(async () => {
    const text = await readFile(path.resolve(import.meta.dirname, '../../docs/operations.md'), 'utf8');
    for (const [, name, line] of text.matchAll(/<!-- acl: (\w+) -->\s*```\s*user \S+ (.*?)\n```/g)) {
      rules[name!] = line!.split(' ');
    }
  });

  async function urlOf(name: string, userRules: readonly string[]): Promise<string> {
    const user = randomName(name);
    await scene.redis.call('ACL', 'SETUSER', user, 'reset', ...userRules);
    return scene.url.replace('redis://', `redis://${user}:secret@`);
  }

  test('may do all that handling takes', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const connection = await urlOf('worker', rules.worker!);
    const handler = handlerOf<string>(queue, (payload, message) => {
      handled.record(payload, message);
      if (payload === 'fails' && message.attempt === 1) throw new Error('no');
    });
    const { producer, log, close } = await scene.startApp({
      module: { connection, prefix: 'delay-queue', defaults: { backoff: { type: 'fixed', delay: 10 } } },
      providers: [handler],
    });
    await producer.offer(queue, 'works', 20);
    await producer.offer(queue, 'fails', 20);
    await producer.offer(queue, 'early', 10);
    await until(async () => Object.values(await producer.counts(queue)).every((count) => count === 0));
    await producer.clear(queue);
    await close();
    expect(handled.calls).toHaveLength(4);
    expect(log.filter((line) => /NOPERM|permission/.test(line))).toEqual([]);
  });

  test('may do all that producing takes', async () => {
    const queue = scene.newQueue();
    const connection = await urlOf('producer', rules.producer!);
    const { producer, log } = await scene.startApp({ module: { connection, prefix: 'delay-queue', consume: false } });
    await producer.offer(queue, 1, '1h', { id: 'a' });
    await producer.offer(queue, 2, '1h', { id: 'a', onDuplicate: 'replace' });
    await producer.offerMany(queue, [{ payload: 3, delay: '1m' }]);
    expect(await producer.reschedule(queue, 'a', '2h')).toBe(true);
    expect(await producer.find(queue, 'a')).toMatchObject({ payload: 2 });
    expect(await producer.counts(queue)).toMatchObject({ delayed: 2 });
    expect(await producer.nextDue(queue)).not.toBeNull();
    expect(await producer.cancel(queue, 'a')).toBe(true);
    expect(log.filter((line) => /NOPERM|permission/.test(line))).toEqual([]);
  });

  test('has none too many: without any of them the start-up fails, or says what is missing', async () => {
    const queue = scene.newQueue();
    const needed = rules.worker!.filter((rule) => rule.startsWith('+') && !NOT_MISSED.includes(rule));
    expect(needed.length).toBeGreaterThan(20);
    const missed: string[] = [];
    for (const rule of needed) {
      const connection = await urlOf(
        'lacking',
        rules.worker!.filter((other) => other !== rule),
      );
      const module = { connection, prefix: 'delay-queue', offerTimeout: 500, shutdownTimeout: 100 };
      const app = await scene
        .startApp({ module, providers: [handlerOf(queue, () => undefined)] })
        .catch(() => undefined);
      if (!app) continue;
      // The commands outside of scripts show when they are first sent.
      const command = rule.slice(1);
      const shows = () => app.log.some((line) => line.includes('NOPERM') && line.includes(command));
      if (
        !(await until(shows, { within: 500 }).then(
          () => true,
          () => false,
        ))
      )
        missed.push(rule);
      await app.close();
    }
    // Whole scripts are sent only to a server that does not know them, and PING as a heartbeat, seconds later.
    expect(missed).toEqual(['+eval', '+ping']);
  });
});
