import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FaultLog } from '../nemesis/fault-log.js';
import { SoakSentinels } from '../servers/soak-sentinels.js';
import { FailoverWatch } from './failover-watch.js';

const TIMEOUT = 90_000;
const FAULT = { kind: 'planned failover', detail: '', processes: 'all', costsLeases: true, injected: true } as const;

let folder: string;
let servers: SoakSentinels;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'failovers-'));
  // Otherwise a busy machine might keep a primary silent for so long that it is replaced without being asked.
  servers = await SoakSentinels.start({ patience: TIMEOUT });
}, TIMEOUT);

afterEach(async () => {
  await servers.stop();
  rmSync(folder, { recursive: true });
}, TIMEOUT);

test.each([
  ['that belongs to a fault is not recorded again', true, 1, 1],
  ['that no fault requested is recorded, with what Redis may have forgotten', false, 1, 2],
  ['that follows a requested one is recorded, even while the fault lasts', true, 2, 2],
])(
  'a failover %s',
  async (_what, replaces, failovers, count) => {
    const epoch = Date.now();
    const now = () => Date.now() - epoch;
    const log = new FaultLog(join(folder, 'faults.jsonl'), now);
    const watch = new FailoverWatch(servers, { log, now });
    watch.start();
    const close = log.open({ ...FAULT, replaces });
    let replacedAfter = now();
    for (let i = 0; i < failovers; i++) {
      const primary = await servers.choosePrimary();
      replacedAfter = now();
      await primary.failOver();
      await servers.untilWhole();
    }
    close();
    await watch.stop();
    expect(log.windows).toHaveLength(count);
    const [, recorded] = log.windows;
    expect(recorded?.forgotten?.every(({ from, to }) => from <= replacedAfter && to > replacedAfter) ?? true).toBe(
      true,
    );
  },
  TIMEOUT,
);
