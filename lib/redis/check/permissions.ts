import type { RedisCommands } from '../commands/redis-commands.js';
import { ownFunctions } from '../script/redis-library.js';
import type { Scripting } from '../script/server-functions.js';
import { verdictOn } from './server-info.js';

/** The commands that a layout uses on each key or channel, in scripts or directly. */
export type Permissions<Keys> = { readonly [Part in keyof Keys]: readonly string[] };

export interface NeededCommand {
  readonly name: string;
  /** The command's key or channel; undefined if it has none. */
  readonly target?: string;
}

const TO_CALL: Readonly<Record<Scripting, readonly string[]>> = {
  functions: ['FCALL', 'FUNCTION|LOAD'],
  scripts: ['EVAL', 'EVALSHA'],
};

/** The commands needed to call functions or scripts. If either will do, only `TIME`: the check itself shows whether one of them works. */
export function neededToCall(scripting: Scripting | undefined): NeededCommand[] {
  return [...(scripting ? TO_CALL[scripting] : []), 'TIME'].map((name) => ({ name }));
}

/** The commands that let the wake-up signals of several queues share a connection. Without them, each queue has its own connection. */
export const FOR_SHARED_SIGNALS: readonly NeededCommand[] = [{ name: 'CLIENT|ID' }, { name: 'CLIENT|UNBLOCK' }];

/** Maximum number of commands checked in one call, whatever the number of queues. Such a call takes Redis about a millisecond. */
const MAX_AT_ONCE = 1000;

export function neededCommands<Keys extends object>(permissions: Permissions<Keys>, keys: Keys): NeededCommand[] {
  const parts = Object.entries(permissions) as [keyof Keys, readonly string[]][];
  return parts.flatMap(([part, names]) => names.map((name) => ({ name, target: keys[part] as string })));
}

/**
 * Asks the server which of these commands its user may not send. Makes a call even for an empty list, to learn whether scripts run.
 * @throws DelayQueueError `UNSUPPORTED_SERVER`, `MISSING_PERMISSION` if no script can run; others like {@link RedisCommands.run}
 */
export async function findMissing<Needed extends NeededCommand>(
  commands: RedisCommands,
  needed: Iterable<Needed>,
): Promise<readonly Needed[]> {
  const missing: Needed[] = [];
  try {
    for (const asked of inCalls(needed)) {
      const rest = asked.flatMap(({ name, target = '' }) => [name, target]);
      const reply = await commands.run(ownFunctions.checkPermissions, { keys: {}, rest });
      missing.push(...reply.rest((each) => asked[each.number() - 1]!));
    }
    // By now, scripts are called by digest, so only this call shows whether the server supports EVALSHA.
    await commands.run(ownFunctions.checkPermissions, { keys: {}, rest: [] });
  } catch (error) {
    throw verdictOn(error);
  }
  return missing;
}

function* inCalls<Needed>(needed: Iterable<Needed>): Generator<readonly Needed[]> {
  let asked: Needed[] = [];
  for (const each of needed) {
    if (asked.length === MAX_AT_ONCE) {
      yield asked;
      asked = [];
    }
    asked.push(each);
  }
  yield asked;
}

/** Describes commands in ACL notation: `+zadd +zcard on delay-queue:{orders}:delayed, +time`. */
export function describeMissing(missing: readonly NeededCommand[]): string {
  const rules = new Map<string | undefined, string[]>();
  for (const { name, target } of missing) {
    rules.set(target, [...(rules.get(target) ?? []), `+${name.toLowerCase()}`]);
  }
  return [...rules]
    .map(([target, names]) => names.join(' ') + (target === undefined ? '' : ` on ${target}`))
    .join(', ');
}
