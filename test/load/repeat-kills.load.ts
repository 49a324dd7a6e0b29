import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { doubles, missing, occurrencesOf } from '../support/occurrences.js';
import { Scene } from '../support/scene.js';
import { isEmpty } from '../support/is-empty.js';
import { until } from '../support/until.js';
import type { WorkerProcess } from '../support/worker/worker-process.js';

const PROCESSES = 5;
/** `REPEAT_KILLS_SECONDS` makes it longer. */
const SECONDS = Number(process.env.REPEAT_KILLS_SECONDS ?? 60);
const PATIENCE = 300_000 + SECONDS * 1000;

describe('a message that repeats every second', () => {
  const scene = new Scene({});

  test(
    'occurs once at each time while five processes are killed at random',
    async () => {
      const queue = scene.newQueue();
      const all: WorkerProcess[] = [];
      const start = async () => {
        const worker = await scene.startWorker({
          queue,
          handler: { lease: 1000, attempts: 100, repeat: { cron: '* * * * * *', payload: { do: 'work', ms: 600 } } },
        });
        all.push(worker);
        return worker;
      };
      const end = Date.now() + SECONDS * 1000;
      let kills = 0;
      const life = async () => {
        while (Date.now() < end) {
          const worker = await start();
          await sleep(Math.random() * 15_000);
          await worker.end('SIGKILL');
          kills++;
        }
      };
      await Promise.all(Array.from({ length: PROCESSES }, life));
      const last = await start();
      await until(() => last.of('end').length >= 2, { within: 10_000 });
      const { producer } = await scene.startApp({ module: { consume: false } });
      await until(() => producer.cancel(queue, 'repeat'));
      await until(() => isEmpty(producer, queue));
      const started = occurrencesOf(all);
      const again = started.filter(({ attempt }) => attempt > 1).length;
      const times = new Set(started.map(({ at }) => at)).size;
      console.log(`${times} occurrences, ${kills} kills, ${again} attempts repeated after one`);
      expect(times).toBeGreaterThan(SECONDS / 2);
      expect(again).toBeGreaterThan(0);
      expect(doubles(started)).toEqual([]);
      expect(missing(started, 1000)).toEqual([]);
    },
    PATIENCE,
  );
});
