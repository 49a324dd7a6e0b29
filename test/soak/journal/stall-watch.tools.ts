import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { block } from '../../support/block.js';
import { until } from '../../support/until.js';
import { MIN_REPORTED, watchForStalls } from './stall-watch.js';

test('a stall is reported only if it lasts longer than the process blocked itself', async () => {
  const stalls: [number, number][] = [];
  let blocked = 0;
  const end = watchForStalls(
    () => performance.now(),
    (from, to) => stalls.push([from, to]),
    () => blocked,
  );
  blocked = MIN_REPORTED + 100;
  block(blocked);
  await sleep(200);
  expect(stalls).toEqual([]);
  blocked += 100;
  block(MIN_REPORTED + 250);
  await until(() => stalls.length > 0);
  end();
});

test('a stall is reported with its beginning and end, but not after the watch has ended', async () => {
  const stalls: [number, number][] = [];
  const end = watchForStalls(
    () => performance.now(),
    (from, to) => stalls.push([from, to]),
  );
  const before = performance.now();
  block(MIN_REPORTED + 150);
  const after = performance.now();
  await until(() => stalls.length > 0);
  end();
  const [from, to] = stalls[0]!;
  expect(from).toBeLessThanOrEqual(before);
  expect(to).toBeGreaterThanOrEqual(after);

  const reported = stalls.length;
  block(MIN_REPORTED + 150);
  await sleep(200);
  expect(stalls).toHaveLength(reported);
});
