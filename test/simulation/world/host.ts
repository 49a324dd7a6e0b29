import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import type { Chance } from './chance.js';
import { cancel, type World, type WorldEvent } from './world.js';

/*
 * Stands in for what the library, Nest and other packages take from Node.js by themselves: chance, the time, and turns of the event loop.
 * It must be imported before any of them. It belongs to whatever process of the world is running.
 */

let world: World | undefined;
let chance: Chance = Math.random;

/** From now on, code of this thread lives in a world. */
export function inhabit(given: World): void {
  world = given;
  chance = given.chance('nobody');
}

/** Milliseconds of real time. */
export const realNow = performance.now.bind(performance);

const real = {
  random: Math.random,
  now: Date.now,
  randomBytes: crypto.randomBytes,
  setImmediate: timers.setImmediate,
  clearImmediate: timers.clearImmediate,
};

const draw = () => (world?.current?.random ?? chance)();

Math.random = () => (world ? draw() : real.random());
Date.now = () => (world ? Math.floor(world.epoch + (world.current?.now ?? world.now)) : real.now());
performance.now = () => (world ? (world.current?.now ?? world.now) : realNow());
crypto.randomBytes = (size: number) =>
  world ? Buffer.from(Array.from({ length: size }, () => Math.floor(draw() * 256))) : real.randomBytes(size);
crypto.randomUUID = () => {
  const hex = crypto.randomBytes(16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};

/** The maximum length of a turn of a busy event loop, ms. */
const MAX_TURN = 0.25;

timers.setImmediate = ((task: (...args: unknown[]) => void, ...args: unknown[]) => {
  if (!world) return real.setImmediate(task, ...args);
  const { current } = world;
  // Most turns end at once; others let more happen in between, so that different orders are tried.
  const turn = current && current.random() < 0.25 ? current.random() * MAX_TURN : 0;
  return world.afterTurn(turn, () => task(...args), current);
}) as never;
timers.clearImmediate = ((immediate: WorldEvent | undefined) => {
  if (!world) real.clearImmediate(immediate as never);
  else if (immediate) cancel(immediate);
}) as never;
syncBuiltinESMExports();
