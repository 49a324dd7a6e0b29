import { nativeScripts } from '../../../lib/store/native/native-scripts.js';
import { redissonScripts } from '../../../packages/redisson/src/redisson-scripts.js';
import type { RedisScript } from '../../../lib/redis/script/redis-script.js';
import type { ConnectionRole } from '../../../lib/redis/connection/redis-client.js';
import type { ConnectionFilter, RequestFilter } from './faults.js';

/** The connections of a role, by the name that the library gives them. */
export const connectionsFor =
  (role: ConnectionRole): ConnectionFilter =>
  (connection) =>
    connection.name === `delay-queue:${role}`;

/** What a script is in the layout of Redisson, if it is several. */
const IN_REDISSON: Partial<Record<string, readonly RedisScript[]>> = {
  ...Object.fromEntries(Object.entries(redissonScripts).map(([name, script]) => [name, [script]])),
  offer: [redissonScripts.offer, redissonScripts.offerReplacing],
};

/** What else does the work of a script in the native layout. */
const ALSO_NATIVE: Partial<Record<string, readonly RedisScript[]>> = {
  offer: [nativeScripts.offerNew],
  transfer: [nativeScripts.transferAndClaim],
  settle: [nativeScripts.ack],
};

/** The calls of a script of whatever layout, by its digest or whole. */
export const callsOf = (script: keyof typeof nativeScripts): RequestFilter => {
  const scripts: readonly RedisScript[] = [
    nativeScripts[script],
    ...(ALSO_NATIVE[script] ?? []),
    ...(IN_REDISSON[script] ?? []),
  ];
  return ({ command, args: [code] }) =>
    scripts.some(
      ({ sha1, source }) =>
        (command === 'EVALSHA' && code?.toString() === sha1) || (command === 'EVAL' && code?.toString() === source),
    );
};
