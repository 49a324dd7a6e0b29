import { nativeFunctions } from '../../../lib/store/native/native-library.js';
import { redissonFunctions } from '../../../packages/redisson/src/redisson-library.js';
import type { RedisFunction } from '../../../lib/redis/script/redis-library.js';
import type { ConnectionRole } from '../../../lib/redis/connection/redis-client.js';
import type { ConnectionFilter, RequestFilter } from './faults.js';

/** The connections of a role, by the name that the library gives them. */
export const connectionsFor =
  (role: ConnectionRole): ConnectionFilter =>
  (connection) =>
    connection.name === `delay-queue:${role}`;

/** What a function is in the layout of Redisson, if it is several. */
const IN_REDISSON: Partial<Record<string, readonly RedisFunction[]>> = {
  ...Object.fromEntries(Object.entries(redissonFunctions).map(([name, called]) => [name, [called]])),
  offer: [redissonFunctions.offer, redissonFunctions.offerReplacing],
};

/** What else does the work of a function in the native layout. */
const ALSO_NATIVE: Partial<Record<string, readonly RedisFunction[]>> = {
  transfer: [nativeFunctions.transferAndClaim],
};

/** The calls of a function of whatever layout, or of the same as a script. */
export const callsOf = (name: keyof typeof nativeFunctions): RequestFilter => {
  const functions: readonly RedisFunction[] = [
    nativeFunctions[name],
    ...(ALSO_NATIVE[name] ?? []),
    ...(IN_REDISSON[name] ?? []),
  ];
  return ({ command, args: [code] }) =>
    functions.some(({ calledAs, scripts }) => {
      const codes: Partial<Record<string, string[]>> = {
        FCALL: [calledAs],
        EVALSHA: scripts.map(({ sha1 }) => sha1),
        EVAL: scripts.map(({ source }) => source),
      };
      return code !== undefined && codes[command]?.includes(code.toString());
    });
};
