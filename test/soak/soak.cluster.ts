import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { summarize } from './report/summary.js';
import { runSoak } from './run-soak.js';
import { redReasons, type SoakResult } from './soak-result.js';
import { DEFAULT_SETTINGS, type SoakSettings } from './soak-settings.js';

/** The faults take half a minute; starting, draining and judging take much longer on a busy machine. */
const TIMEOUT = 240_000;

describe('a short soak', () => {
  let out: string;

  beforeEach(() => {
    out = mkdtempSync(join(tmpdir(), 'soak-'));
  });

  afterEach(() => rmSync(out, { recursive: true, force: true }));

  test.each<readonly [string, Partial<SoakSettings>]>([
    [
      'a cluster',
      {
        redis: 'cluster',
        partitions: 4,
        kinds: ['planned failover', 'primary killed', 'primary frozen', 'primary isolated', 'slot moved'],
      },
    ],
    [
      'a cluster whose messages have groups',
      {
        ...{ redis: 'cluster', partitions: 4, groups: 1 },
        kinds: ['planned failover', 'primary killed', 'slot moved', 'worker killed', 'worker frozen'],
      },
    ],
    [
      'a primary watched by sentinels',
      { redis: 'sentinel', kinds: ['planned failover', 'primary killed', 'primary frozen'] },
    ],
  ])(
    'loses only what Redis loses and explains every duplicate: %s',
    async (_where, settings) => {
      const result = await runSoak({
        ...DEFAULT_SETTINGS,
        ...{ seconds: 15, faultsEvery: 15 / (settings.kinds!.length + 0.5), rate: 200, maxDelay: 3000 },
        ...{ workers: 2, producers: 2, out },
        ...settings,
      });
      expect(troubleOf(result)).toBe('');
      // They happen one at a time, and those that are still waiting when the time is over do not begin.
      expect(result.windows.filter(({ injected }) => injected).length).toBeGreaterThan(0);
      expect(result.verdict.handled).toBeGreaterThan(0);
    },
    TIMEOUT,
  );
});

/** Describes a red run, because nobody can repeat what a busy machine does. Empty if it is green. */
function troubleOf(result: SoakResult): string {
  if (redReasons(result).length === 0) return '';
  return [summarize(result), ...result.windows.map((window) => JSON.stringify(window))].join('\n');
}
