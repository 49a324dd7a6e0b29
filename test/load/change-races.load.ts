import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayedMessage } from '../../lib/index.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';
import { EvenRace } from './even-race.js';

const RACES = 10_000;
const RACES_AT_ONCE = 200;
const DELAY = 20;

describe('a change and the due time of a message', () => {
  const scene = new Scene({});

  test('have exactly one winner, the caller learns which, and the handler is called once', async () => {
    const queue = scene.newQueue();
    const seen = new Map<string, unknown[]>();
    const handle = (payload: unknown, { id }: DelayedMessage) => {
      seen.set(id, [...(seen.get(id) ?? []), payload]);
    };
    const provider = handlerOf(queue, handle, { concurrency: 100 });
    for (let i = 0; i < 2; i++) await scene.startApp({ providers: [provider] });
    const { producer } = await scene.startApp({ module: { consume: false } });
    const even = new EvenRace();
    const wrong: string[] = [];
    let changed = 0;
    const race = async (id: string) => {
      await producer.offer(queue, 'timed out', DELAY + Math.round(even.handlerWaits), { id });
      await sleep(DELAY - 4 + Math.random() * 8 + even.callerWaits);
      const isChanged = await producer.reschedule(queue, id, 0, { payload: 'paid' });
      even.wonBy(isChanged ? 'caller' : 'handler');
      await until(() => seen.has(id));
      if (isChanged) changed++;
      if (String(seen.get(id)) !== (isChanged ? 'paid' : 'timed out')) wrong.push(`${id}: ${String(seen.get(id))}`);
    };
    for (let first = 0; first < RACES; first += RACES_AT_ONCE) {
      await Promise.all(Array.from({ length: RACES_AT_ONCE }, (_, i) => race(`m${first + i}`)));
    }
    await until(async () => Object.values(await producer.counts(queue)).every((count) => count === 0));
    console.log(`${changed} of ${RACES} races were won by the change`);
    expect(wrong).toEqual([]);
    expect([...seen.values()].filter(({ length }) => length > 1)).toEqual([]);
    expect(changed).toBeGreaterThan(RACES / 50);
    expect(changed).toBeLessThan((RACES * 49) / 50);
  });
});
