import { describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { distributionOf } from '../../bench/src/measure/percentiles.js';
import { argumentsFor, ENVIRONMENT } from '../support/run-program.js';
import { Scene } from '../support/scene.js';
import type { InstancesReport } from './instances.program.js';

/** For a long run: `INSTANCES_MINUTES=10 npm run test:load -- test/load/instances`. */
const MINUTES = Number(process.env.INSTANCES_MINUTES ?? 1);
/** Windows with and without faults alternate, so that what else the machine does strikes both. */
const WINDOW = 5000;
/** What faults of the other instance may make of the p99 of a window, and what the clock's milliseconds may add. */
const TOLERANCE = { share: 1.2, ms: 1 };

describe("failures of one instance's Redis", () => {
  const main = new Scene({});
  const billing = new Scene({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });

  const FAULTS: readonly [name: string, strike: () => Promise<unknown>][] = [
    ['frozen', () => lasting(1500, [() => billing.server.freeze(), () => billing.server.thaw()])],
    ['killed', () => lasting(1000, [() => billing.server.kill9(), () => billing.server.restart()])],
    ['connections killed', () => billing.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')],
    ['writes paused', () => billing.redis.call('CLIENT', 'PAUSE', '1000', 'WRITE').then(() => sleep(1000))],
    ['out of memory', () => lasting(1000, [() => setMaxMemory('1'), () => setMaxMemory('0')])],
  ];
  const setMaxMemory = (bytes: string) => billing.redis.config('SET', 'maxmemory', bytes);

  async function lasting(ms: number, [begin, end]: [() => Promise<unknown>, () => Promise<unknown>]): Promise<void> {
    await begin();
    await sleep(ms);
    await end();
  }

  /** Strikes for one window; goes on with the fault after the last one. */
  const struck = new Map<string, number>();
  let next = 0;
  async function strike(): Promise<void> {
    for (const end = performance.now() + WINDOW; performance.now() < end; next++) {
      const [name, fault] = FAULTS[next % FAULTS.length]!;
      await fault();
      struck.set(name, (struck.get(name) ?? 0) + 1);
      await sleep(500);
    }
  }

  test(
    'hardly delay the messages of another instance, and no message of either is lost',
    async () => {
      const program = new URL('./instances.program.ts', import.meta.url);
      const args = [...argumentsFor(program), main.url, billing.url];
      const child = spawn(process.execPath, args, { env: ENVIRONMENT, stdio: ['pipe', 'pipe', 'inherit'] });
      const output = createInterface(child.stdout);
      await once(output, 'line');
      await sleep(2000);
      const end = performance.now() + MINUTES * 60_000;
      while (performance.now() < end) {
        child.stdin.write('calm\n');
        await sleep(WINDOW);
        child.stdin.write('faults\n');
        await strike();
      }
      const reported = once(output, 'line') as Promise<[string]>;
      child.stdin.end();
      const { windows, lost, acknowledged } = JSON.parse((await reported)[0]) as InstancesReport;

      const ofKind = (kind: 0 | 1) => windows.slice(1).filter((_, i) => i % 2 === kind);
      const medianOf = (p: 'p50' | 'p99', kind: 0 | 1) =>
        distributionOf(ofKind(kind).map((window) => distributionOf(window)[p])).p50;
      const show = (kind: 0 | 1) =>
        `p50 ${medianOf('p50', kind).toFixed(1)}, p99 ${medianOf('p99', kind).toFixed(1)} ms`;
      const faults = [...struck].map(([name, count]) => `${count} × ${name}`).join(', ');
      console.log(`lateness in ${ofKind(0).length} windows each: calm ${show(0)}; faults ${show(1)} (${faults}); acknowledged: ${acknowledged.join(', ')}`); // prettier-ignore
      expect(lost).toEqual([]);
      expect(medianOf('p99', 1)).toBeLessThanOrEqual(TOLERANCE.share * medianOf('p99', 0) + TOLERANCE.ms);
    },
    MINUTES * 60_000 + 120_000,
  );
});
