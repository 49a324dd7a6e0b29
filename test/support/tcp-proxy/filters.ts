import { nativeScripts } from '../../../lib/store/native/native.scripts.js';
import { redissonScripts } from '../../../lib/store/redisson/redisson.scripts.js';
import type { RedisScript } from '../../../lib/store/redis/redis-script.js';
import type { ConnectionFilter, RequestFilter } from './faults.js';

/** The connections of a role, by the name that the library gives them. */
export const connectionsFor =
  (role: 'commands' | 'announcements' | 'doorbell'): ConnectionFilter =>
  (connection) =>
    connection.name === `delay-queue:${role}`;

/** The calls of a script of whatever layout, by its digest or whole. */
export const callsOf = (script: keyof typeof nativeScripts): RequestFilter => {
  const inRedisson: Partial<Record<string, RedisScript>> = redissonScripts;
  const scripts = [nativeScripts[script], inRedisson[script]].filter((each) => each !== undefined);
  return ({ command, args: [code] }) =>
    scripts.some(
      ({ sha1, source }) =>
        (command === 'EVALSHA' && code?.toString() === sha1) || (command === 'EVAL' && code?.toString() === source),
    );
};
