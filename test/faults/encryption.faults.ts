import { describe, expect, test } from '@jest/globals';
import { encryption } from '../../lib/encryption/index.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';

const LEASE = 1000;
const KEYS = { k1: Buffer.alloc(32, 1).toString('base64'), k2: Buffer.alloc(32, 2).toString('base64') };
const OLD = { current: 'k1', keys: { k1: KEYS.k1 } };
const NEW = { current: 'k2', keys: KEYS };

describe('an encrypted queue', () => {
  const scene = new Scene();

  test('loses nothing when a process is killed in the middle of a rotation, and its heir has the new key', async () => {
    const queue = scene.newQueue();
    const defaults = { encryption: encryption(NEW) };
    const { producer } = await scene.startApp({ module: { defaults, consume: false } });
    const handler = { lease: LEASE, attempts: 3, concurrency: 4 };
    const old = await scene.startWorker({ queue, handler, encryption: { current: 'k1', keys: KEYS } });
    const task = { do: 'hang', firstAttemptOnly: true } as const;
    const ids = Array.from({ length: 8 }, (_, i) => `m${i}`);
    await producer.offerMany(
      queue,
      ids.map((id) => ({ id, payload: task, delay: 0 })),
    );
    await until(() => old.of('start').length === 4);
    await old.end('SIGKILL');
    const heir = await scene.startWorker({ queue, handler: { ...handler, concurrency: 8 }, encryption: NEW });
    await until(() => heir.of('end').length >= 4, { within: 30_000 });
    expect(new Set(heir.of('end').map(({ id }) => id))).toEqual(new Set(old.of('start').map(({ id }) => id)));
    await heir.end('SIGKILL');
    const last = await scene.startWorker({ queue, handler, encryption: NEW });
    // A message whose handler had ended right before the kill is handled again.
    const handled = () => new Set([old, heir, last].flatMap((worker) => worker.of('end').map(({ id }) => id)));
    await until(() => handled().size >= ids.length);
    expect([...handled()].sort()).toEqual(ids);
  });

  test('keeps messages for a process with the key while others, which are killed, put them off', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({
      module: { defaults: { encryption: encryption(NEW) }, consume: false },
    });
    const handler = { lease: LEASE, attempts: 1 };
    await producer.offer(queue, null, 0, { id: 'a' });
    for (let kills = 0; kills < 3; kills++) {
      const blind = await scene.startWorker({ queue, handler, encryption: OLD });
      await until(async () => (await producer.counts(queue)).delayed === 1);
      await blind.end('SIGKILL');
      await producer.reschedule(queue, 'a', 0);
    }
    const sighted = await scene.startWorker({ queue, handler, encryption: NEW });
    // It may have been put off once more.
    await until(async () => {
      await producer.reschedule(queue, 'a', 0);
      return sighted.of('end').length === 1;
    });
    expect(sighted.of('end')).toMatchObject([{ id: 'a', attempt: 1 }]);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 0, dead: 0 });
  });
});
