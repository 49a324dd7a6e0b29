import { describe, expect, test } from '@jest/globals';
import { Scene } from '../support/scene.js';
import { runProgram } from '../support/run-program.js';
import type { Report, Settings } from './shifted-clock/offer-and-handle.js';

const HOUR = 3_600_000;
const DELAY = 700;
const PRELOAD = new URL('./shifted-clock/shift-clock.js', import.meta.url).href;

describe('a process with a wrong clock', () => {
  const scene = new Scene();

  const serverTime = async () => {
    const [seconds, micros] = await scene.redis.time();
    return Number(seconds) * 1000 + Number(micros) / 1000;
  };

  test("uses Redis' clock for due times and handles its messages on time, an hour behind or ahead", async () => {
    const before = await serverTime();
    await Promise.all(
      [-HOUR, HOUR].map(async (shift) => {
        const module = { connection: scene.url, prefix: scene.prefix };
        const settings: Settings = { module, queue: scene.newQueue(), delay: DELAY, shift };
        const program = '../faults/shifted-clock/offer-and-handle.ts';
        const { clock, dueAt, took } = await runProgram<Report>(program, settings, '--import', PRELOAD);
        const after = await serverTime();

        expect(Math.abs(clock - shift - after)).toBeLessThan(30_000);
        expect(dueAt).toBeGreaterThanOrEqual(before + DELAY);
        expect(dueAt).toBeLessThanOrEqual(after);
        expect(took).toBeGreaterThanOrEqual(DELAY);
        expect(took).toBeLessThan(DELAY + 4000);
      }),
    );
  });
});
