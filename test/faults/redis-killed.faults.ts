import { describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';
import type { WorkerProcess } from '../support/worker/worker-process.js';
import { TirelessProducer } from './tireless-producer.js';

/** How long Redis stays away after each kill, ms. */
const ABSENCES = [0, 300, 1000, 3000];
/** The least number of acknowledged offers before each kill and after the last one. */
const OFFERS_BETWEEN = 1000;
/** The promise is that work resumes within 2 s after Redis answers; the rest is for a busy machine. */
const FLOWS_WITHIN = 2000 + 3000;

describe('a Redis that writes every command to disk and is repeatedly killed with SIGKILL', () => {
  const scene = new Scene({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });

  async function untilItAnswers(): Promise<void> {
    const client = new Redis(scene.url, { lazyConnect: true });
    await client.ping();
    client.disconnect();
  }

  /** Waits until every producer has an offer acknowledged, and every worker has handled one of these. */
  async function untilWorkFlows(producers: TirelessProducer[], workers: WorkerProcess[]): Promise<void> {
    const before = producers.map(({ acknowledged }) => acknowledged.length);
    const flows = () => {
      const since = producers.map(({ acknowledged }, i) => acknowledged.slice(before[i]));
      const fresh = new Set(since.flat());
      return (
        since.every(({ length }) => length > 0) &&
        workers.every((worker) => worker.of('end').some(({ id }) => fresh.has(id)))
      );
    };
    await until(flows, { within: FLOWS_WITHIN, every: 10 });
  }

  test('keeps every acknowledged offer and adds no others, and work soon resumes', async () => {
    const queue = scene.newQueue();
    const settings = { queue, quiet: true, handler: { lease: 5000, attempts: 100 } };
    const workers = await Promise.all([scene.startWorker(settings), scene.startWorker(settings)]);
    const apps = [
      await scene.startApp({ module: { consume: false } }),
      await scene.startApp({ module: { consume: false, offerTimeout: 400 } }),
    ];
    const producers = apps.map(({ producer }, i) => new TirelessProducer(producer, queue, { name: `p${i}`, hands: 8 }));
    const count = () => producers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
    const untilOffered = (more: number) => {
      const target = count() + more;
      return until(() => count() >= target, { within: 20_000 });
    };

    const gaps: number[] = [];
    for (const absence of ABSENCES) {
      await untilOffered(OFFERS_BETWEEN);
      await scene.server.kill9();
      await sleep(absence);
      await scene.server.restart();
      await untilItAnswers();
      const answeredAt = performance.now();
      await untilWorkFlows(producers, workers);
      gaps.push(Math.round(performance.now() - answeredAt));
    }
    await untilOffered(OFFERS_BETWEEN);
    await Promise.all(producers.map((producer) => producer.stop()));
    await until(() => isEmpty(apps[0]!.producer, queue), {
      within: 20_000,
      every: 50,
    });
    const ended = workers.flatMap((worker) => worker.of('end')).map(({ id }) => id);
    const handled = new Set(ended);
    const unknown = producers.flatMap((producer) => producer.failedWith('OUTCOME_UNKNOWN'));
    const unsent = producers.flatMap((producer) => producer.failedWith('NOT_CONNECTED'));
    console.log(
      `${count()} offers acknowledged, ${unknown.length} unknown, of which ${unknown.filter((id) => handled.has(id)).length} ` +
        `were handled, ${unsent.length} not sent; ${ended.length - handled.size} handled again; ` +
        `work flowed ${gaps.join(', ')} ms after Redis answered`,
    );

    expect(producers.flatMap(({ acknowledged }) => acknowledged).filter((id) => !handled.has(id))).toEqual([]);
    expect(unsent.filter((id) => handled.has(id))).toEqual([]);
    expect(
      producers.flatMap(({ codes }) => codes).filter((code) => !/^(OUTCOME_UNKNOWN|NOT_CONNECTED)$/.test(code)),
    ).toEqual([]);
    expect(unknown.length).toBeGreaterThan(0);
    expect(unsent.length).toBeGreaterThan(0);
  });
});
