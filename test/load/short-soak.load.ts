import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAULTS_OF_ONE } from '../soak/nemesis/faults.js';
import { summarize } from '../soak/report/summary.js';
import { writeReport } from '../soak/report/write-report.js';
import { runSoak } from '../soak/run-soak.js';
import { redReasons } from '../soak/soak-result.js';
import { type ConsumerKind, DEFAULT_SETTINGS, type SoakSettings } from '../soak/soak-settings.js';

/** The load takes a few seconds; starting, draining and judging take much longer on a busy machine. */
const TIMEOUT = 180_000;

describe('a short soak', () => {
  let out: string;

  beforeEach(() => {
    out = mkdtempSync(join(tmpdir(), 'soak-'));
  });

  afterEach(() => rmSync(out, { recursive: true, force: true }));

  const soak = (settings: Partial<SoakSettings>) =>
    runSoak({
      ...DEFAULT_SETTINGS,
      seconds: 5,
      rate: 300,
      maxDelay: 3000,
      workers: 2,
      producers: 2,
      out,
      ...settings,
    });

  test(
    'loses nothing under many kinds of faults, is never early and explains every duplicate',
    async () => {
      const result = await soak({ seed: 1, faultsEvery: 0.3, workers: 3 });
      expect(redReasons(result)).toEqual([]);
      const { verdict, windows } = result;
      expect(verdict).toMatchObject({
        lost: { count: 0 },
        lostByRedis: { count: 0 },
        undone: { count: 0 },
        hostage: { count: 0 },
        early: { count: 0 },
        corrupt: { count: 0 },
        revived: { count: 0 },
        unattributed: { count: 0 },
        staleSettles: { count: 0 },
      });
      expect(verdict.handled).toBeGreaterThan(0);
      expect(verdict.starts).toBeGreaterThan(verdict.handled);
      expect(verdict.lateness.inFaults.count).toBeGreaterThan(0);
      expect(result).toMatchObject({ residue: [], crashes: [], drainedAfter: expect.any(Number) });
      expect(result.connections.found).toBeLessThanOrEqual(result.connections.most);
      const struck = new Set(windows.filter(({ injected }) => injected).map(({ kind }) => kind));
      expect(struck.size).toBeGreaterThanOrEqual(8);
      for (const kind of struck) expect(FAULTS_OF_ONE.map((fault) => fault.kind)).toContain(kind);

      const page = readFileSync(writeReport(result), 'utf8');
      expect(page).toContain('class="verdict green"');
      for (const kind of struck) expect(page).toContain(kind);
      expect(JSON.parse(readFileSync(join(out, 'report.json'), 'utf8'))).toMatchObject({ red: [] });
      expect(summarize(result)).toMatch(/GREEN$/);
    },
    TIMEOUT,
  );

  test(
    'handles the messages of each group one at a time, in order',
    async () => {
      const result = await soak({ seed: 2, faultsEvery: 0.6, workers: 3, groups: 1, rate: 200 });
      expect(redReasons(result)).toEqual([]);
      expect(result.verdict).toMatchObject({ crowded: { count: 0 }, overtaken: { count: 0 } });
      expect(result.verdict.groups.ordered).toBeGreaterThan(0);
      expect(summarize(result)).toContain('groups ');
    },
    TIMEOUT,
  );

  test(
    'finds messages that exceed the concurrency of their group or overtake earlier ones',
    async () => {
      const result = await soak({ consumer: 'crowding', groups: 1, faultsEvery: 0, rate: 200 });
      const { crowded, overtaken } = result.verdict;
      expect(crowded.count).toBeGreaterThan(0);
      const beside = `started without a free permit in their group: ${crowded.count}`;
      const behind = `started after later ones of their group: ${overtaken.count}`;
      expect(redReasons(result)).toEqual(overtaken.count > 0 ? [beside, behind] : [beside]);
      expect(readFileSync(writeReport(result), 'utf8')).toContain(crowded.examples[0]);
    },
    TIMEOUT,
  );

  test('refuses an unknown kind of fault', async () => {
    await expect(soak({ kinds: ['worker killed', 'worker bored'] })).rejects.toThrow("no fault 'worker bored'");
  });

  describe('with a naive consumer in place of the module', () => {
    const naive = (consumer: ConsumerKind, settings: Partial<SoakSettings> = {}) =>
      soak({ consumer, faultsEvery: 0, seconds: 2, maxDelay: 1000, producers: 1, ...settings });

    test(
      'passes if the consumer does nothing wrong',
      async () => {
        const result = await naive('sound');
        expect(redReasons(result)).toEqual([]);
        expect(result.verdict.handled).toBe(result.verdict.acknowledged);
      },
      TIMEOUT,
    );

    test(
      'finds messages that were lost with the process that had popped them',
      async () => {
        const result = await naive('lossy', { faultsEvery: 1, kinds: ['worker killed'] });
        const { verdict } = result;
        expect(verdict).toMatchObject({ early: { count: 0 }, corrupt: { count: 0 }, unattributed: { count: 0 } });
        expect(verdict.lost.count).toBeGreaterThan(0);
        expect(verdict.lost.count).toBe(verdict.acknowledged - verdict.handled);
        expect(redReasons(result)).toEqual([`lost: ${verdict.lost.count}`]);
        const page = readFileSync(writeReport(result), 'utf8');
        expect(page).toContain('class="verdict red"');
        expect(page).toContain(verdict.lost.examples[0]);
      },
      TIMEOUT,
    );

    test(
      'finds messages that were handled before their due time',
      async () => {
        const { verdict } = await naive('early');
        expect(verdict).toMatchObject({ lost: { count: 0 }, corrupt: { count: 0 }, unattributed: { count: 0 } });
        expect(verdict.early.count).toBeGreaterThan(0);
      },
      TIMEOUT,
    );

    test(
      'finds messages that were delivered twice',
      async () => {
        const { verdict } = await naive('double');
        expect(verdict).toMatchObject({ lost: { count: 0 }, early: { count: 0 }, corrupt: { count: 0 } });
        expect(verdict.unattributed.count).toBe(verdict.handled);
      },
      TIMEOUT,
    );
  });
});
