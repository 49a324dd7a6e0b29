import type { OneServer } from '../servers/one-server.js';
import type { ReplicatedServers } from '../servers/replicated-servers.js';
import type { Servers } from '../servers/servers.js';
import type { SoakCluster } from '../servers/soak-cluster.js';
import type { Layout, SoakSettings } from '../soak-settings.js';
import type { Fault } from './fault.js';
import { answersHeld } from './faults/answers-held.js';
import { bandwidthLow } from './faults/bandwidth-low.js';
import { batchesFrozen } from './faults/batches-frozen.js';
import { callsLate } from './faults/calls-late.js';
import { connectionsKilled, subscriptionsKilled } from './faults/clients-killed.js';
import { connectionsDark, subscribersDark } from './faults/connections-dark.js';
import { connectionsReset } from './faults/connections-reset.js';
import { dataFlushed } from './faults/data-flushed.js';
import { delayedDeleted } from './faults/delayed-deleted.js';
import { errorReplies } from './faults/error-replies.js';
import { functionsFlushed } from './faults/functions-flushed.js';
import { grown } from './faults/grown.js';
import { leasesDeleted } from './faults/leases-deleted.js';
import { logTorn } from './faults/log-torn.js';
import { logTruncated } from './faults/log-truncated.js';
import { networkSlow } from './faults/network-slow.js';
import { outOfMemory } from './faults/out-of-memory.js';
import { permissionTaken } from './faults/permission-taken.js';
import { plannedFailover } from './faults/planned-failover.js';
import { primaryFrozen } from './faults/primary-frozen.js';
import { primaryIsolated } from './faults/primary-isolated.js';
import { primaryKilled } from './faults/primary-killed.js';
import { producerKilled, workerKilled } from './faults/process-killed.js';
import { scriptsFlushed } from './faults/scripts-flushed.js';
import { serverFrozen } from './faults/server-frozen.js';
import { serverKilled } from './faults/server-killed.js';
import { serverPaused } from './faults/server-paused.js';
import { slotMoved } from './faults/slot-moved.js';
import { workerFrozen } from './faults/worker-frozen.js';
import { workerReplaced } from './faults/worker-replaced.js';

/** The kinds of faults that happen everywhere. */
const EVERYWHERE: readonly Fault[] = [
  workerKilled,
  workerFrozen,
  batchesFrozen,
  workerReplaced,
  producerKilled,
  connectionsKilled,
  subscriptionsKilled,
  connectionsReset,
  callsLate,
  answersHeld,
  connectionsDark,
  subscribersDark,
  networkSlow,
  bandwidthLow,
  errorReplies,
  serverPaused,
  scriptsFlushed,
  functionsFlushed,
  outOfMemory,
  permissionTaken,
  delayedDeleted,
  leasesDeleted,
];

/** Every kind of fault that the nemesis knows for a single server. */
export const FAULTS_OF_ONE: readonly Fault<OneServer>[] = [
  ...EVERYWHERE,
  serverFrozen,
  serverKilled,
  dataFlushed,
  logTruncated,
  logTorn,
];

/** Every kind of fault that it knows for a primary watched by sentinels. */
export const FAULTS_OF_SENTINELS: readonly Fault<ReplicatedServers>[] = [
  ...EVERYWHERE,
  plannedFailover,
  primaryKilled,
  primaryFrozen,
];

/** Every kind of fault that it knows for a cluster. */
export const FAULTS_OF_CLUSTER: readonly Fault<SoakCluster>[] = [
  ...FAULTS_OF_SENTINELS,
  primaryIsolated,
  grown,
  slotMoved,
];

/**
 * The kinds that a run has been asked for, or all that are possible.
 *
 * @throws Error if there is no such kind, or it is not possible
 */
export async function chosenFrom<Redis extends Servers>(
  faults: readonly Fault<Redis>[],
  { kinds, layout }: Pick<SoakSettings, 'kinds' | 'layout'>,
): Promise<readonly Fault<Redis>[]> {
  const unknown = kinds?.find((name) => !faults.some(({ kind }) => kind === name));
  if (unknown !== undefined) {
    throw new Error(`There is no fault '${unknown}'; choose from ${faults.map(({ kind }) => kind).join(', ')}.`);
  }
  const chosen = faults.filter(({ kind, forgets = false }) => kinds?.includes(kind) ?? !forgets);
  const arePossible = await Promise.all(chosen.map((fault) => isPossible(fault, layout)));
  const impossible = chosen.find((_fault, i) => !arePossible[i]);
  if (kinds && impossible) throw new Error(`The fault '${impossible.kind}' is not possible here.`);
  return chosen.filter((_fault, i) => arePossible[i]);
}

async function isPossible<Redis extends Servers>(fault: Fault<Redis>, layout: Layout): Promise<boolean> {
  if (fault.maxPartitions !== undefined && layout !== 'native') return false;
  return fault.isPossible?.() ?? true;
}
