import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';

const MESSAGES = 1000;
/** The offers are spread over this time, ms. */
const DEPLOY = 10_000;

describe('a rolling deploy that introduces a new message type', () => {
  const scene = new Scene({});

  test('handles each message at its first attempt and leaves no dead letter', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const start = (types: string[]) => scene.startWorker({ queue, types, quiet: true });
    let offered = 0;
    const offerQuarter = async () => {
      for (const end = offered + MESSAGES / 4; offered < end; offered++) {
        await producer.offer(queue, null, 0, { id: `m${offered}`, type: offered % 2 === 0 ? 'new' : 'old' });
        if (offered % 10 === 9) await sleep(DEPLOY / (MESSAGES / 10));
      }
    };
    const meetsNew = ({ log }: { readonly log: string }) => log.includes("no handler for type 'new'");

    // Of several workers, one may have all the messages: each old one is alone for a while.
    const one = await start(['old']);
    await offerQuarter();
    await until(() => meetsNew(one));
    const other = await start(['old']);
    await Promise.all([one.end('SIGTERM'), offerQuarter()]);
    await until(() => meetsNew(other));
    const newWorker = await start(['old', 'new']);
    await offerQuarter();
    await Promise.all([other.end('SIGTERM'), offerQuarter()]);

    const ends = () => [one, other, newWorker].flatMap((worker) => worker.of('end'));
    await until(() => ends().length >= MESSAGES, { within: 60_000, every: 100 });
    const counts = await producer.counts(queue);
    const byOld = [one, other].reduce((sum, worker) => sum + worker.of('end').length, 0);
    console.log(`${MESSAGES} messages: ${byOld} handled by old workers, ${ends().length - byOld} by the new one`);
    expect(new Set(ends().map(({ id }) => id)).size).toBe(MESSAGES);
    expect(ends().filter(({ attempt }) => attempt !== 1)).toEqual([]);
    expect(counts).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    expect(byOld).toBeGreaterThan(0);
    // The old workers said so once each.
    for (const worker of [one, other]) expect(worker.log.match(/no handler for type 'new'/g)).toHaveLength(1);
  }, 120_000);
});
