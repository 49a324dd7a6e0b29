import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Aftermath, awaitAftermath, type Narrator } from './observer/aftermath.js';
import { findTrends } from './observer/flatness.js';
import type { Fault, FaultContext } from './nemesis/fault.js';
import { planFaults } from './nemesis/fault-plan.js';
import { withoutEchoes } from './nemesis/fault-window.js';
import { chosenFrom, FAULTS_OF_CLUSTER, FAULTS_OF_ONE, FAULTS_OF_SENTINELS } from './nemesis/faults.js';
import { Nemesis } from './nemesis/nemesis.js';
import { judge } from './oracle/oracle.js';
import { readHistory } from './oracle/read-history.js';
import { OneServer } from './servers/one-server.js';
import type { Servers } from './servers/servers.js';
import { SoakCluster } from './servers/soak-cluster.js';
import { SoakSentinels } from './servers/soak-sentinels.js';
import { redReasons, type SoakResult } from './soak-result.js';
import type { SoakSettings } from './soak-settings.js';
import { SoakStage } from './soak-stage.js';
import { groupRulesOf } from './oracle/group-rules.js';
import { LEASE } from './workload/message-plan.js';

/** A fault's effects end when the leases that it cost have been taken over, which is promised within lease + 2 s. */
const RECOVERY = LEASE + 2000;

/** Runs producers and workers while the nemesis strikes; then heals, drains and judges. */
export async function runSoak(settings: SoakSettings, tell: Narrator = () => undefined): Promise<SoakResult> {
  const run = { settings, tell };
  switch (settings.redis) {
    case 'one': {
      const faults = await chosenFrom(FAULTS_OF_ONE, settings);
      return runOn(await OneServer.start(settings), faults, run);
    }
    case 'sentinel': {
      const faults = await chosenFrom(FAULTS_OF_SENTINELS, settings);
      return runOn(await SoakSentinels.start(), faults, run);
    }
    case 'cluster': {
      const faults = await chosenFrom(FAULTS_OF_CLUSTER, settings);
      return runOn(await SoakCluster.start(), faults, run);
    }
  }
}

/** A run as it was asked for. */
interface Run {
  readonly settings: SoakSettings;
  readonly tell: Narrator;
}

async function runOn<Redis extends Servers>(
  servers: Redis,
  faults: readonly Fault<Redis>[],
  { settings, tell }: Run,
): Promise<SoakResult> {
  const partitions = Math.max(settings.partitions, ...faults.map(({ maxPartitions = 1 }) => maxPartitions));
  const stage = new SoakStage(settings, servers, partitions);
  try {
    const { nemesis, from } = await underFire(stage, faults, { settings, tell });
    tell('Healing');
    await nemesis.heal();
    const aftermath = await awaitAftermath(stage, tell);
    tell('Judging');
    const result = conclude(stage, { settings, from }, aftermath);
    if (redReasons(result).length === 0 && !settings.keepJournals) rmSync(stage.journals, { recursive: true });
    return result;
  } finally {
    await stage.clear();
  }
}

async function underFire<Redis extends Servers>(
  stage: SoakStage<Redis>,
  faults: readonly Fault<Redis>[],
  { settings, tell }: Run,
): Promise<{ nemesis: Nemesis<Redis>; from: number }> {
  const { fleet, servers, log, observer } = stage;
  const healing = new AbortController();
  const context: Omit<FaultContext<Redis>, 'open'> = {
    ...{ fleet, servers, queues: stage.queues, soak: settings },
    now: () => stage.now(),
    wait: (length) => sleep(length, undefined, { signal: healing.signal }).catch(() => undefined),
  };
  const nemesis = new Nemesis(context, log, faults);
  tell(`Starting ${settings.workers} workers and ${settings.producers} producers`);
  await fleet.start();
  observer.start();
  const plan = planFaults(
    settings,
    faults.map(({ kind }) => kind),
  );
  tell(`Offering for ${settings.seconds} s, with ${plan.length} faults of ${faults.length} kinds`);
  const from = stage.now();
  nemesis.start(plan);
  await sleep(settings.seconds * 1000);
  healing.abort();
  return { nemesis, from };
}

function conclude(
  stage: SoakStage,
  { settings, from }: { settings: SoakSettings; from: number },
  aftermath: Aftermath,
): SoakResult {
  const { windows } = stage.log;
  const { samples } = stage.observer;
  const { deadLetters, ...found } = aftermath;
  const history = readHistory(stage.journals);
  const verdict = judge({ history, windows, deadLetters, recovery: RECOVERY, groups: groupRulesOf(settings) });
  const { connections } = stage.fleet;
  return {
    settings,
    startedAt: new Date(stage.epoch).toISOString(),
    recovery: RECOVERY,
    verdict,
    windows: withoutEchoes([...windows, ...verdict.stalls]),
    samples,
    deadLetters: deadLetters.size,
    trends: findTrends(samples, { from, seconds: settings.seconds, recovery: RECOVERY, connections }),
    crashes: stage.fleet.crashes(),
    ...found,
  };
}
