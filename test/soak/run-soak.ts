import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Aftermath, awaitAftermath, type Narrator, OWN_CONNECTIONS } from './observer/aftermath.js';
import { findTrends } from './observer/flatness.js';
import type { Fault, FaultContext } from './nemesis/fault.js';
import { planFaults } from './nemesis/fault-plan.js';
import { withoutEchoes } from './nemesis/fault-window.js';
import { FAULTS } from './nemesis/faults.js';
import { Nemesis } from './nemesis/nemesis.js';
import { judge } from './oracle/oracle.js';
import { readHistory } from './oracle/read-history.js';
import { redReasons, type SoakResult } from './soak-result.js';
import type { SoakSettings } from './soak-settings.js';
import { SoakStage } from './soak-stage.js';
import { LEASE } from './workload/message-plan.js';

/** A fault's effects end when the leases that it cost have been taken over, which is promised within lease + 2 s. */
const RECOVERY = LEASE + 2000;

/** Runs producers and workers while the nemesis strikes; then heals, drains and judges. */
export async function runSoak(settings: SoakSettings, tell: Narrator = () => undefined): Promise<SoakResult> {
  const faults = faultsOf(settings);
  const stage = await SoakStage.set(settings);
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

function faultsOf({ kinds }: SoakSettings): readonly Fault[] {
  const unknown = kinds?.find((name) => !FAULTS.some(({ kind }) => kind === name));
  if (unknown !== undefined) {
    throw new Error(`There is no fault '${unknown}'; choose from ${FAULTS.map(({ kind }) => kind).join(', ')}.`);
  }
  return FAULTS.filter(({ kind, forgets = false }) => kinds?.includes(kind) ?? !forgets);
}

async function underFire(
  stage: SoakStage,
  faults: readonly Fault[],
  { settings, tell }: { settings: SoakSettings; tell: Narrator },
): Promise<{ nemesis: Nemesis; from: number }> {
  const { fleet, redis, admin, proxy, data, log, observer } = stage;
  const healing = new AbortController();
  const context: Omit<FaultContext, 'open'> = {
    ...{ fleet, redis, admin, proxy, data, soak: settings },
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
  const verdict = judge({ history, windows, deadLetters, recovery: RECOVERY });
  const connections = stage.fleet.connections + OWN_CONNECTIONS;
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
