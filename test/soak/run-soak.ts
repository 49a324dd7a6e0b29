import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.js';
import { collectDeadLetters } from './observer/dead-letters.js';
import { findTrends } from './observer/flatness.js';
import { findResidue } from './observer/residue.js';
import type { Fault, Scene } from './nemesis/fault.js';
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

/** A fault is over for a process when a lease that it ended has been taken over, as promised: lease + 2 s. */
const RECOVERY = LEASE + 2000;

const FINISH_TIMEOUT = 60_000;
const DRAIN_TIMEOUT = 120_000;
const RECONNECT_TIMEOUT = 20_000;

/** Tells what a run is at. */
export type Narrator = (text: string) => void;

/** Lets producers offer and workers handle while the nemesis does its work; heals, drains, and judges. */
export async function runSoak(settings: SoakSettings, tell: Narrator = () => undefined): Promise<SoakResult> {
  const faults = faultsOf(settings);
  const stage = await SoakStage.set(settings);
  try {
    const startedAt = new Date().toISOString();
    const nemesis = await underFire(stage, faults, { settings, tell });
    tell('Healing');
    await nemesis.heal();
    const offeredUntil = stage.now();
    const findings = await aftermath(stage, tell);
    tell('Judging');
    const { windows } = stage.log;
    const verdict = judge({
      history: readHistory(stage.journals),
      windows,
      deadLetters: findings.deadLetters,
      recovery: RECOVERY,
    });
    const result: SoakResult = {
      settings,
      startedAt,
      server: findings.server,
      recovery: RECOVERY,
      drainedAfter: findings.drainedAt === null ? null : findings.drainedAt - offeredUntil,
      verdict,
      windows: withoutEchoes([...windows, ...verdict.stalls]),
      samples: stage.observer.samples,
      deadLetters: findings.deadLetters.size,
      residue: findings.residue,
      connections: findings.connections,
      trends: findTrends(stage.observer.samples, {
        seconds: settings.seconds,
        recovery: RECOVERY,
        connections: 1 + stage.fleet.connections,
      }),
      crashes: stage.fleet.crashes(),
    };
    if (redReasons(result).length === 0 && !settings.keepJournals) rmSync(stage.journals, { recursive: true });
    return result;
  } finally {
    await stage.strike();
  }
}

function faultsOf({ kinds }: SoakSettings): readonly Fault[] {
  const unknown = kinds?.find((name) => !FAULTS.some(({ kind }) => kind === name));
  if (unknown !== undefined) {
    throw new Error(`There is no fault '${unknown}'; there are ${FAULTS.map(({ kind }) => kind).join(', ')}.`);
  }
  return FAULTS.filter(({ kind }) => kinds?.includes(kind) ?? true);
}

async function underFire(
  stage: SoakStage,
  faults: readonly Fault[],
  { settings, tell }: { settings: SoakSettings; tell: Narrator },
): Promise<Nemesis> {
  const { fleet, redis, admin, proxy, log, observer } = stage;
  const healing = new AbortController();
  const scene: Omit<Scene, 'open'> = {
    ...{ fleet, redis, admin, proxy },
    wait: (length) => sleep(length, undefined, { signal: healing.signal }).catch(() => undefined),
  };
  const nemesis = new Nemesis(scene, log, faults);
  tell(`Starting ${settings.workers} workers and ${settings.producers} producers`);
  await fleet.start();
  observer.start();
  const plan = planFaults(
    settings,
    faults.map(({ kind }) => kind),
  );
  tell(`Offering for ${settings.seconds} s, with ${plan.length} faults of ${faults.length} kinds`);
  nemesis.start(plan);
  await sleep(settings.seconds * 1000);
  healing.abort();
  return nemesis;
}

/** What is found when the faults are over and the producers have finished. */
async function aftermath(stage: SoakStage, tell: Narrator) {
  const { fleet, observer, admin, prefix } = stage;
  await fleet.stop('producer', FINISH_TIMEOUT);
  tell('Draining');
  const drained = until(async () => (await observer.underWay()) === 0, { within: DRAIN_TIMEOUT, every: 50 });
  const drainedAt = await drained.then(() => stage.now()).catch(() => null);
  const connections = await settledConnections(stage);
  const deadLetters = await collectDeadLetters(stage.redis.url, prefix);
  await fleet.stop('worker', FINISH_TIMEOUT);
  const residue = await findResidue(admin, prefix);
  const server = /redis_version:(\S+)/.exec(await admin.info('server'))?.[1] ?? 'unknown';
  await observer.stop();
  return { drainedAt, connections, deadLetters, residue, server: `Redis ${server}` };
}

async function settledConnections({ fleet, observer }: SoakStage): Promise<SoakResult['connections']> {
  const workers = fleet.berths.filter(({ role }) => role === 'worker');
  const own = 1;
  const expected = own + workers.length * fleet.connectionsOfAWorker;
  const reached = until(async () => (await observer.connectedClients()) === expected, { within: RECONNECT_TIMEOUT });
  await reached.catch(() => undefined);
  return { found: await observer.connectedClients(), expected };
}
