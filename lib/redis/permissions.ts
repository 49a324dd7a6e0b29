import type { RedisCommands } from './redis-commands.js';
import { loadScript } from './redis-script.js';
import { verdictOn } from './server-check.js';

/** The commands that are used on each key or channel of a layout, in scripts or directly. */
export type Permissions<Keys> = { readonly [Part in keyof Keys]: readonly string[] };

/** A command that a queue needs. */
export interface NeededCommand {
  readonly name: string;
  /** The key or the channel; undefined if it has none. */
  readonly target?: string;
}

/** What every script needs. */
const KEYLESS: readonly NeededCommand[] = [{ name: 'EVAL' }, { name: 'EVALSHA' }, { name: 'TIME' }];

/** What lets the doorbells of several queues share a connection. Without it, each queue has one of its own. */
export const FOR_SHARED_DOORBELLS: readonly NeededCommand[] = [{ name: 'CLIENT|ID' }, { name: 'CLIENT|UNBLOCK' }];

/** How many commands a script asks about, of any number of queues: about a millisecond's work. */
const MOST_AT_ONCE = 1000;

const script = loadScript('redis/check-permissions', {});

export function neededCommands<Keys extends object>(permissions: Permissions<Keys>, keys: Keys): NeededCommand[] {
  const parts = Object.entries(permissions) as [keyof Keys, readonly string[]][];
  return [
    ...KEYLESS,
    ...parts.flatMap(([part, names]) => names.map((name) => ({ name, target: keys[part] as string }))),
  ];
}

/**
 * Asks the server which of these commands its user may not send. It is asked even about none, to learn whether it runs scripts.
 *
 * @throws DelayQueueError `UNSUPPORTED_SERVER`, `MISSING_PERMISSION` if no script can run; like {@link RedisCommands.run}
 */
export async function findMissing<Needed extends NeededCommand>(
  commands: RedisCommands,
  needed: readonly Needed[],
): Promise<readonly Needed[]> {
  const calls = Math.max(1, Math.ceil(needed.length / MOST_AT_ONCE));
  const starts = Array.from({ length: calls }, (_, i) => i * MOST_AT_ONCE);
  const missing = starts.map((start) => findMissingOfPart(commands, needed.slice(start, start + MOST_AT_ONCE)));
  try {
    return (await Promise.all(missing)).flat();
  } catch (error) {
    throw verdictOn(error);
  }
}

async function findMissingOfPart<Needed extends NeededCommand>(commands: RedisCommands, needed: readonly Needed[]) {
  const rest = needed.flatMap(({ name, target = '' }) => [name, target]);
  return (await commands.run(script, { keys: {}, rest })).rest((reply) => needed[reply.number() - 1]!);
}

/** Describes commands in the notation of ACLs: `+zadd +zcard on delay-queue:{orders}:delayed, +time`. */
export function describeMissing(missing: readonly NeededCommand[]): string {
  const rules = new Map<string | undefined, string[]>();
  for (const { name, target } of missing) {
    rules.set(target, [...(rules.get(target) ?? []), `+${name.toLowerCase()}`]);
  }
  return [...rules]
    .map(([target, names]) => names.join(' ') + (target === undefined ? '' : ` on ${target}`))
    .join(', ');
}
