import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';

const MESSAGES = 1000;
/** The offers are spread over this time, ms, and the old workers stop in it, one after the other. */
const DEPLOY = 10_000;

describe('a rolling deploy that brings a new type of messages', () => {
  const scene = new Scene({});

  test('leaves no message behind: each is handled on its first attempt, and none is dead', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const start = (types: string[]) => scene.startWorker({ queue, types, quiet: true });
    const [one, other] = await Promise.all([start(['old']), start(['old'])]);
    const newWorker = await start(['old', 'new']);

    const type = (i: number) => (i % 2 === 0 ? 'new' : 'old');
    for (let i = 0; i < MESSAGES; i++) {
      await producer.offer(queue, null, 0, { id: `m${i}`, type: type(i) });
      if (i % 10 === 9) await sleep(DEPLOY / (MESSAGES / 10));
      if (i === MESSAGES / 2) await one.end('SIGTERM');
    }
    await other.end('SIGTERM');

    const ends = () => [one, other, newWorker].flatMap((worker) => worker.of('end'));
    await until(() => ends().length >= MESSAGES, { within: 60_000, every: 100 });
    const counts = await producer.counts(queue);
    const byOld = [one, other].reduce((sum, worker) => sum + worker.of('end').length, 0);
    console.log(`${MESSAGES} messages: ${byOld} handled by old workers, ${ends().length - byOld} by the new one`);
    expect(new Set(ends().map(({ id }) => id)).size).toBe(MESSAGES);
    expect(ends().filter(({ attempt }) => attempt !== 1)).toEqual([]);
    expect(counts).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    expect(byOld).toBeGreaterThan(0);
    // The old workers met messages of the new type, and said so once each.
    for (const worker of [one, other]) expect(worker.log.match(/no handler for type 'new'/g)).toHaveLength(1);
  }, 120_000);
});
