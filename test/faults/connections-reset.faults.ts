import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { until } from '../support/until.js';

const DURATION = 6000;
const RESET_EVERY = 200;
const OFFER_EVERY = 5;
const LEASE = 1000;

describe('connections that are reset repeatedly', () => {
  const scene = new Scene();
  const proxies = new Proxies(scene);

  test('lose no acknowledged message under load, deliver none early, and redeliver one only after a lost lease', async () => {
    const queue = scene.newQueue();
    const proxy = await proxies.start();
    const module = { connection: proxy.url, offerTimeout: '1s', defaults: { checkInterval: '2s', blockTimeout: '1s' } };
    const settings = { queue, module, handler: { lease: LEASE, attempts: 100 } };
    const workers = await Promise.all([scene.startWorker(settings), scene.startWorker(settings)]);
    const { producer } = await scene.startApp({ module: { ...module, consume: false } });
    const direct = await scene.startApp({ module: { consume: false } });

    const end = performance.now() + DURATION;
    let resets = 0;
    const resetting = (async () => {
      for (; performance.now() < end; await sleep(RESET_EVERY)) resets += proxy.reset();
    })();
    const acknowledged: string[] = [];
    const codes = new Map<string, number>();
    const offers: Promise<unknown>[] = [];
    for (; performance.now() < end; await sleep(OFFER_EVERY)) {
      const offer = producer.offer(queue, null, Math.floor(Math.random() * 500)).then(
        ({ id }) => acknowledged.push(id),
        ({ code }: { code: string }) => codes.set(code, (codes.get(code) ?? 0) + 1),
      );
      offers.push(offer);
    }
    await Promise.all([resetting, ...offers]);
    await until(() => isEmpty(direct.producer, queue), { within: LEASE + 20_000, every: 50 });
    await sleep(50);

    const starts = workers.flatMap((worker) => worker.of('start'));
    const ended = new Set(workers.flatMap((worker) => worker.of('end')).map(({ id }) => id));
    const again = starts.filter(({ attempt }) => attempt > 1).length;
    const late = starts.map((start) => start.late);
    console.log(
      `${resets} resets, ${offers.length} offers, ${acknowledged.length} acknowledged, failed: ` +
        `${JSON.stringify([...codes])}, ${again} handled again, at most ${Math.max(...late)} ms late`,
    );
    expect(resets).toBeGreaterThan(100);
    expect(acknowledged.length).toBeGreaterThan(offers.length / 4);
    expect(acknowledged.filter((id) => !ended.has(id))).toEqual([]);
    expect([...codes.keys()].filter((code) => !/^(OUTCOME_UNKNOWN|NOT_CONNECTED)$/.test(code))).toEqual([]);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
    // No attempt is made twice: a repeated message has spent one with its lost lease.
    expect(new Set(starts.map(({ id, attempt }) => `${id} ${attempt}`)).size).toBe(starts.length);
    expect(again).toBeLessThan(starts.length / 10);
  });
});
