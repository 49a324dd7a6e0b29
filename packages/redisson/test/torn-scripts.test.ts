import { describe, expect, test } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dumpAll, effectsOf, recover, replay, WITH_LOG } from '../../../test/support/redis/torn-log.js';
import { Scene } from '../../../test/support/scene.js';
import { CALLS, fill } from './full-redisson-queue.js';
import { redissonQueues } from './redisson-queue.js';

/** The final contents of a queue by value: handled, or in a state from which it continues. */
const VALUES = ['of expired', 'of active', 'of ready', 'of due', 'of delayed', 'of Java'];

/** Which values a call is to remove. */
const REMOVED: Record<string, readonly string[]> = {
  cancel: ['of delayed'],
  'settle: ack': ['of active'],
  'remove a value': ['of delayed'],
  'take the first value': ['of due'],
};

/** Which values a call is to replace, and by what. */
const REPLACED: Record<string, readonly [string, string]> = {
  'offer, replace a delayed message': ['of delayed', 'new'],
  'offer, replace a ready message': ['of ready', 'new'],
  'offer, replace an active message': ['of active', 'new'],
  'settle: again': ['of active', 'anew'],
};

describe('a script of the Redisson layout that ends between two of its writes', () => {
  const dir = mkdtempSync(join(tmpdir(), 'torn-scripts-'));
  const scene = new Scene({ args: WITH_LOG, dir });
  const open = redissonQueues();

  const NOT_TORN = ['clear', 'resume', 'repair'];
  test.each(Object.keys(CALLS).filter((name) => !NOT_TORN.includes(name)))(
    'neither loses a message nor leaves one active forever: %s',
    async (name) => {
      await scene.redis.flushall();
      const queue = open({ url: scene.url });
      await fill(queue);
      const before = await dumpAll(scene.redis);
      const effects = await effectsOf(dir, () => CALLS[name]!(queue.store));
      const problems: string[] = [];
      for (let count = 1; count < effects.length; count++) {
        await replay(scene.redis, before, effects.slice(0, count));
        const left = (await recover(queue.store)).map(({ body }) => body.toString());
        for (const state of ['delayed', 'ready', 'active', 'dead'] as const) {
          const { messages } = await queue.store.list({ state, limit: 1000 });
          left.push(...messages.map(({ body }) => body.toString()));
          for (const { body, leasedUntil } of messages) {
            if (state === 'ready') problems.push(`${body.toString()} stays ready`);
            if (state === 'active' && !leasedUntil) problems.push(`${body.toString()} is active without a lease`);
          }
        }
        const done = effects.slice(0, count).map(({ command }) => command);
        const wanted = VALUES.filter((value) => !REMOVED[name]?.includes(value));
        const [old, replacement] = REPLACED[name] ?? [];
        const isKept = (value: string) => left.includes(value) || (value === old && left.includes(replacement!));
        const lost = wanted.filter((value) => !isKept(value));
        problems.push(...lost.map((value) => `${done.join(', ')}: ${value} is lost`));
      }
      expect(problems).toEqual([]);
    },
  );
});
