import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { COMMANDS } from '../faults/full-queue.js';
import { COMMANDS as REDISSON_COMMANDS } from '../../packages/redisson/test/full-redisson-queue.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { type LayoutName, layouts } from '../support/layouts.js';
import { randomName } from '../support/random-name.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** The time for which each permission is missing, ms. */
const GONE_FOR = 2500;
const MESSAGES_A_SECOND = 40;

/** The time between two offers, ms. */
const PACE = 1000 / MESSAGES_A_SECOND;

describe('a worker that temporarily loses one permission after another', () => {
  const scene = new Scene({});

  async function takeEach(layout: LayoutName, commands: readonly string[]) {
    const queue = scene.newQueue();
    const user = randomName('worker');
    const handled = new Handled();
    const setUser = (...rules: string[]) => scene.redis.call('ACL', 'SETUSER', user, ...rules);
    await setUser('reset', 'on', 'nopass', '~*', '&*', '+@all');
    const options = {
      prefix: scene.prefix,
      defaults: { layout: layouts[layout], lease: '2s', attempts: 100, backoff: { type: 'fixed', delay: 50 } },
    } as const;
    const { producer } = await scene.startApp({ module: { ...options, consume: false } });
    await scene.startApp({
      module: { ...options, connection: scene.url.replace('redis://', `redis://${user}:any@`) },
      providers: [
        handlerOf(queue, (payload, message) => {
          handled.record(payload, message);
          if (message.attempt === 1 && Number(payload) % 10 === 0) throw new Error('again');
        }),
      ],
    });

    const offered: string[] = [];
    let stopped = false;
    const offering = (async () => {
      for (let n = 0; !stopped; n++) {
        const delay = (n * 37) % 1500;
        offered.push((await producer.offer(queue, n, delay)).id);
        await sleep(PACE);
      }
    })();
    for (const command of commands) {
      await setUser(`-${command}`);
      await sleep(GONE_FOR);
      await setUser(`+${command}`);
    }
    stopped = true;
    await offering;
    await until(() => isEmpty(producer, queue), { within: 30_000 });
    const ids = new Set(handled.ids);
    return { offered: offered.length, lost: offered.filter((id) => !ids.has(id)) };
  }

  test('loses no messages in either layout', async () => {
    const [native, redisson] = await Promise.all([
      takeEach('native', COMMANDS),
      takeEach('redisson', REDISSON_COMMANDS),
    ]);
    console.log(`native: ${native.offered} offered, redisson: ${redisson.offered} offered`);
    expect(native.lost).toEqual([]);
    expect(redisson.lost).toEqual([]);
    expect(native.offered).toBeGreaterThan(1000);
  });
});
