import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';
import { EvenRace } from './even-race.js';

const RACES = 10_000;
const RACES_AT_ONCE = 100;

type Part = 'first' | 'second';

describe('a follower', () => {
  const scene = new Scene({});

  test('is handled exactly once, after the message it follows, even if it is offered just as that message finishes', async () => {
    const queue = scene.newQueue();
    const ended = new Set<string>();
    const handled = new Map<string, Part[]>();
    const tooEarly: string[] = [];
    const started = new Map<string, () => void>();
    const even = new EvenRace();
    const handle = async (part: Part, { id }: { id: string }) => {
      if (part === 'second' && !ended.has(id)) tooEarly.push(id);
      handled.set(id, [...(handled.get(id) ?? []), part]);
      started.get(id)?.();
      if (part === 'first') await sleep(Math.random() * 4 + even.handlerWaits);
      ended.add(id);
      // Some of them die.
      if (part === 'first' && id.endsWith('7')) throw new Error('as told');
    };
    const options = { concurrency: 200, attempts: 1, maxDeadLetters: 2 * RACES };
    await scene.startApp({ providers: [handlerOf(queue, handle, options)] });
    const { producer } = await scene.startApp({ module: { consume: false } });
    const race = async (id: string) => {
      const start = new Promise<void>((resolve) => started.set(id, resolve));
      await producer.offer(queue, 'first', 0, { id });
      await start;
      await sleep(Math.random() * 4 + even.callerWaits);
      const result = await producer.offer(queue, 'second', 0, { id, onDuplicate: 'follow' });
      even.wonBy(result.follows ? 'caller' : 'handler');
      return result;
    };
    const ids = Array.from({ length: RACES }, (_, i) => `m${i}`);
    const results: Awaited<ReturnType<typeof race>>[] = [];
    for (let first = 0; first < RACES; first += RACES_AT_ONCE) {
      results.push(...(await Promise.all(ids.slice(first, first + RACES_AT_ONCE).map(race))));
    }
    const isOver = async () => {
      const { delayed, ready, active } = await producer.counts(queue);
      return delayed + ready + active === 0;
    };
    await until(isOver);

    const followed = results.filter(({ follows }) => follows).length;
    const created = results.filter(({ created }) => created).length;
    const kept = new Set(results.filter(({ created, follows }) => !created && !follows).map(({ id }) => id));
    console.log(`${followed} of ${RACES} offers followed, ${created} created, ${kept.size} met a dead letter`);
    // Of the dead letters, those that an offer came too late to follow.
    expect([...kept].every((id) => id.endsWith('7'))).toBe(true);
    expect(ids.filter((id) => String(handled.get(id)) !== (kept.has(id) ? 'first' : 'first,second'))).toEqual([]);
    expect(tooEarly).toEqual([]);
    expect((await producer.counts(queue)).dead).toBe(kept.size);
    expect(followed).toBeGreaterThan(RACES / 20);
    expect(created).toBeGreaterThan(RACES / 20);
    expect(await scene.redis.exists(scene.key(queue, 'followers'))).toBe(0);
  });
});
