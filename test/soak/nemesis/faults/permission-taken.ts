import { nativeFunctions } from '../../../../lib/store/native/native-library.js';
import { redissonFunctions } from '../../../../packages/redisson/src/redisson-library.js';
import { Random } from '../../random.js';
import { persistently } from '../../servers/persistently.js';
import type { Layout } from '../../soak-settings.js';
import { SOAK_USER } from '../../soak-user.js';
import type { Fault } from '../fault.js';

/** The commands sent beside those of functions. */
const CONNECTION_COMMANDS: Readonly<Record<Layout, readonly string[]>> = {
  native: ['fcall', 'function', 'evalsha', 'blpop', 'subscribe', 'ping'],
  redisson: ['fcall', 'function', 'evalsha', 'blpop', 'blmove', 'subscribe', 'ping'],
};

/** A function stops at the first command that its user may not run, and what it wrote before that stays written. */
export const permissionTaken: Fault = {
  kind: 'permission taken',
  of: 'server',
  // Without the right command, leases cannot be extended.
  costsLeases: true,
  strike: async ({ servers, soak, open, wait }, random, turn) => {
    const commands = new Random(soak.seed).shuffled(commandsInUse(soak.layout));
    const command = commands[turn % commands.length]!;
    const length = random.int(2000, 3000);
    const close = open('all', `ACL SETUSER ${SOAK_USER} -${command} for ${length} ms`);
    await persistently(() => servers.ask('ACL', 'SETUSER', SOAK_USER, `-${command}`));
    await wait(length);
    await persistently(() => servers.ask('ACL', 'SETUSER', SOAK_USER, '+@all'));
    close();
  },
};

/** Read from the functions, so that a command that is new to them is covered as well. */
export function commandsInUse(layout: Layout): string[] {
  const functions = { ...nativeFunctions, ...(layout === 'redisson' && redissonFunctions) };
  const sources = Object.values(functions).flatMap(({ scripts }) => scripts.map(({ source }) => source));
  const called = sources.flatMap((source) =>
    [...source.matchAll(/\b(?:protected_)?call\('(\w+)'/g)].map(([, name]) => name!),
  );
  return [...new Set([...called.map((name) => name.toLowerCase()), ...CONNECTION_COMMANDS[layout]])].sort();
}
