import { nativeScripts } from '../../../lib/store/native/native.scripts.js';
import type { ConnectionFilter, RequestFilter } from './faults.js';

/** The connections of a role, by the name that the library gives them. */
export const connectionsFor =
  (role: 'commands' | 'announcements' | 'doorbell'): ConnectionFilter =>
  (connection) =>
    connection.name === `delay-queue:${role}`;

/** The calls of a script, by its digest or whole. */
export const callsOf =
  (script: keyof typeof nativeScripts): RequestFilter =>
  ({ command, args }) =>
    (command === 'EVALSHA' && args[0]?.toString() === nativeScripts[script].sha1) ||
    (command === 'EVAL' && args[0]?.toString() === nativeScripts[script].source);
