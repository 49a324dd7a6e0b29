import { describe, expect, test } from '@jest/globals';
import { ownFunctions } from '../../lib/redis/script/redis-library.js';
import { nativeLibrary } from '../../lib/store/native/native-library.js';
import { CommandCount } from '../support/command-count.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** The library of queues, and the one that checks permissions when a connection is back. */
const LIBRARIES = [nativeLibrary, ownFunctions.checkPermissions.library].map(({ name }) => name);

describe.each([
  { keeps: 'an RDB file', args: ['--save', '3600 1'], end: 'restart', loads: 0 },
  { keeps: 'an append-only file', args: ['--appendonly', 'yes', '--appendfsync', 'always'], end: 'kill9', loads: 0 },
  { keeps: 'nothing', args: [], end: 'kill9', loads: LIBRARIES.length },
] as const)('a server that keeps $keeps when it terminates', ({ args, end, loads }) => {
  const scene = new Scene({ args });

  test(`${loads === 0 ? 'still has each library' : 'is sent each library once'} after a restart, and messages are handled as before`, async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, handled.record)] });
    await producer.offer(queue, 'before', 0, { id: 'before' });
    await handled.until('before');
    await producer.offer(queue, 'kept', '1h', { id: 'kept' });

    if (end === 'kill9') await scene.server.kill9();
    await scene.server.restart();
    await producer.offer(queue, 'after', 0, { id: 'after' });
    await handled.until('after');
    expect(await producer.reschedule(queue, 'kept', 0)).toBe(loads === 0);
    if (loads === 0) await handled.until('kept');

    expect(handled.ids).toEqual(['before', 'after', ...(loads === 0 ? ['kept'] : [])]);
    await until(async () => (await librariesOf(scene)).length === LIBRARIES.length);
    const calls = await CommandCount.sinceItsStart(scene.redis).stop();
    expect(calls['function|load'] ?? 0).toBe(loads);
    expect(calls.eval).toBeUndefined();
  });
});

async function librariesOf({ redis }: Scene): Promise<string[]> {
  const listed = (await redis.call('FUNCTION', 'LIST')) as [string, string][];
  return listed.map(([, name]) => name).filter((name) => LIBRARIES.includes(name));
}
