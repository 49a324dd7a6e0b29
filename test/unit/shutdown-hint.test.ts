import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ShutdownHint } from '../../lib/runtime/delay-queue-runtime.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';

const HOUR = 3_600_000;

let clock: ManualClock;
let events: LoggedEvents;
let hint: ShutdownHint;
/** The listeners of the test runner. */
let others: NodeJS.SignalsListener[];

beforeEach(() => {
  others = process.listeners('SIGTERM');
  process.removeAllListeners('SIGTERM');
  clock = new ManualClock();
  events = new LoggedEvents();
  hint = new ShutdownHint(clock, events);
});

afterEach(() => {
  process.removeAllListeners('SIGTERM');
  for (const listener of others) process.on('SIGTERM', listener);
});

test('a process without a SIGTERM listener is warned once', async () => {
  hint.start();
  await clock.advance(HOUR);
  expect(events.lines).toEqual([
    expect.stringMatching(/^warn Nothing listens for SIGTERM.*app\.enableShutdownHooks\(\)$/),
  ]);
});

test('a process that adds a listener after startup is not warned', async () => {
  hint.start();
  await clock.advance(1000);
  process.on('SIGTERM', () => undefined);
  await clock.advance(HOUR);
  expect(events.lines).toEqual([]);
});

test('a process that has stopped is not warned', async () => {
  hint.start();
  hint.stop();
  await clock.advance(HOUR);
  expect(events.lines).toEqual([]);
});
