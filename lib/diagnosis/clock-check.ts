import type { RedisCommands } from '../redis/commands/redis-commands.js';
import { type Finding, ok, warn } from './finding.js';

/** Number of readings of Redis' clock. The one with the shortest round trip is the most precise. */
const READINGS = 5;

/** Minimum clock difference that triggers a warning, ms. */
const WORTH_A_WARNING = 1000;

/** One reading of Redis' clock, ms. */
export interface ClockReading {
  readonly roundTrip: number;
  /** How far Redis is ahead of this machine. The error is at most half the round trip. */
  readonly ahead: number;
}

/** @throws DelayQueueError like `RedisCommands.send` */
export async function readClock(commands: RedisCommands): Promise<ClockReading> {
  const readings: ClockReading[] = [];
  for (let i = 0; i < READINGS; i++) readings.push(await readOnce(commands));
  return readings.reduce((best, each) => (each.roundTrip < best.roundTrip ? each : best));
}

async function readOnce(commands: RedisCommands): Promise<ClockReading> {
  const [wall, from] = [Date.now(), performance.now()];
  const reply = await commands.send('TIME');
  const roundTrip = performance.now() - from;
  const redis = Number(reply.text()) * 1000 + Number(reply.text()) / 1000;
  return { roundTrip, ahead: redis - (wall + roundTrip / 2) };
}

export function checkClock({ roundTrip, ahead }: ClockReading): Finding {
  const direction = ahead < 0 ? 'behind' : 'ahead of';
  // Plus 1, because `Date.now()` counts whole milliseconds.
  const found = `Redis is ${Math.abs(ahead).toFixed(0)} ms ${direction} this machine (± ${(roundTrip / 2 + 1).toFixed(0)} ms)`;
  if (Math.abs(ahead) < WORTH_A_WARNING) return ok('clock', found);
  const advice =
    "Due times follow Redis' clock, so delays are still right, but instants that this machine computes " +
    'for offerAt are off by that much. Check the time server of both.';
  return warn('clock', found, advice);
}
