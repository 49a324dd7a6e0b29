import type { Layout } from '../store/layout.js';
import { nativeLayout } from '../store/native/native-layout.js';
import {
  describeMissing,
  findMissing,
  FOR_SHARED_SIGNALS,
  type NeededCommand,
  neededToCall,
} from '../redis/check/permissions.js';
import type { RedisCommands } from '../redis/commands/redis-commands.js';
import type { Scripting } from '../redis/script/server-functions.js';
import { type Finding, fail, ok, warn } from './finding.js';

/** The properties of a queue that determine its keys. */
export interface ExaminedQueue {
  readonly prefix: string;
  readonly queue: string;
  /** Default: the native layout. */
  readonly layout?: Layout | undefined;
  /** The module's option `scripting`. */
  readonly scripting?: Scripting | undefined;
}

export async function checkPermissions(commands: RedisCommands, examined: ExaminedQueue): Promise<Finding> {
  const missing = await findMissing(commands, neededBy(examined));
  if (missing.length === 0) return ok('permissions', `all that a worker of queue '${examined.queue}' needs`);
  return fail(
    'permissions',
    `a worker of queue '${examined.queue}' lacks ${describeMissing(missing)}`,
    'Extend the ACL of the Redis user: see docs/operations.md. A user that only offers needs less.',
  );
}

/** @returns undefined if the user has the permissions that queues need to share connections */
export async function checkSharing(commands: RedisCommands): Promise<Finding | undefined> {
  const missing = await findMissing(commands, FOR_SHARED_SIGNALS);
  if (missing.length === 0) return undefined;
  return warn(
    'connections',
    `each handled queue has its own connection: the user lacks ${describeMissing(missing)}`,
    'If you extend its ACL, 64 queues share a connection: see docs/operations.md.',
  );
}

/** True if the user may handle a queue's messages in the native layout. */
export async function mayHandle(commands: RedisCommands, queue: Omit<ExaminedQueue, 'layout'>): Promise<boolean> {
  return (await findMissing(commands, neededBy(queue))).length === 0;
}

function neededBy({ layout = nativeLayout, scripting, ...queue }: ExaminedQueue): NeededCommand[] {
  return [...neededToCall(scripting), ...layout.neededCommands({ ...queue, partitions: 1, isCluster: false })];
}
