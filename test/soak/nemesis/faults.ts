import type { Fault } from './fault.js';
import { bandwidthLow } from './faults/bandwidth-low.js';
import { callsLate } from './faults/calls-late.js';
import { connectionsKilled, subscriptionsKilled } from './faults/clients-killed.js';
import { connectionsDark, subscribersDark } from './faults/connections-dark.js';
import { connectionsReset } from './faults/connections-reset.js';
import { dataFlushed } from './faults/data-flushed.js';
import { errorReplies } from './faults/error-replies.js';
import { logTruncated } from './faults/log-truncated.js';
import { networkSlow } from './faults/network-slow.js';
import { outOfMemory } from './faults/out-of-memory.js';
import { permissionTaken } from './faults/permission-taken.js';
import { producerKilled, workerKilled } from './faults/process-killed.js';
import { scriptsFlushed } from './faults/scripts-flushed.js';
import { serverFrozen } from './faults/server-frozen.js';
import { serverKilled } from './faults/server-killed.js';
import { serverPaused } from './faults/server-paused.js';
import { workerFrozen } from './faults/worker-frozen.js';
import { workerReplaced } from './faults/worker-replaced.js';

/** Every kind of fault that the nemesis knows. */
export const FAULTS: readonly Fault[] = [
  workerKilled,
  workerFrozen,
  workerReplaced,
  producerKilled,
  connectionsKilled,
  subscriptionsKilled,
  connectionsReset,
  callsLate,
  connectionsDark,
  subscribersDark,
  networkSlow,
  bandwidthLow,
  errorReplies,
  serverPaused,
  serverFrozen,
  serverKilled,
  scriptsFlushed,
  outOfMemory,
  permissionTaken,
  dataFlushed,
  logTruncated,
];
