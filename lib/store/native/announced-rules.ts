import type { RedisConnections } from '../../redis/redis-connections.js';
import type { GroupRules } from '../message-store.js';
import { groupKeys } from './native-keys.js';

/** Announces the rules of a process that has just begun to listen, and asks for others. */
const ASK = 'groups?';
/** The answer of a process with other rules. */
const ANSWER = 'groups';

const NO_LIMIT = 'unlimited';

interface AnnouncedRules {
  readonly connections: Pick<RedisConnections, 'announcements' | 'commands'>;
  readonly prefix: string;
  /** The name of a queue or family. */
  readonly queue: string;
  readonly rules: GroupRules;
  /** Called with the rules of a process that has others. */
  readonly onOther: (rules: GroupRules) => void;
}

/**
 * Compares how processes handle the groups of a queue: each announces its rules once it listens and after an outage, and processes with
 * other rules answer. So both report the difference once the second one listens, and nothing is stored. Older versions ignore the
 * announcements. Returns a function that ends the comparison.
 *
 * The databases of a server share the channel, so rules carry the number of the database and are compared only within it. They are also
 * announced without a number: an older version reads nothing else, and reports the difference.
 */
export function announceRules({ connections, prefix, queue, rules, onOther }: AnnouncedRules): () => void {
  const { announcements, commands } = connections;
  const channel = groupKeys(prefix, queue).due;
  const own = textOf(rules);
  const publish = async (text: string) => {
    const announced = await commands.send(announcements.command, channel, text);
    // Listeners to a channel pattern receive only what PUBLISH sends.
    if (announced.number() === 0 && announcements.command === 'SPUBLISH') await commands.send('PUBLISH', channel, text);
  };
  // A failed comparison is not reported, because other calls report the cause.
  const announce = (word: string, database?: string) => {
    const text = database === undefined ? `${word} ${own}` : `${word} ${own} ${database}`;
    void publish(text).catch(() => undefined);
  };
  return announcements.listen(channel, {
    onListening: () => {
      announce(ASK, announcements.database);
      announce(ASK);
    },
    onMessage: (text) => {
      const other = readRules(text);
      if (!other || textOf(other.rules) === own) return;
      const { database } = other;
      if (database !== undefined && database !== announcements.database) return;
      if (text.startsWith(ASK)) announce(ANSWER, database);
      if (database !== undefined) onOther(other.rules);
    },
  });
}

function textOf({ concurrency, onRetry }: GroupRules): string {
  return `${concurrency ?? NO_LIMIT} ${onRetry}`;
}

/** Returns undefined if the text announces something else. */
function readRules(text: string): { readonly rules: GroupRules; readonly database: string | undefined } | undefined {
  const found = /^groups\?? (\d+|unlimited) (hold|pass)(?: (\d+))?$/.exec(text);
  if (!found) return undefined;
  const [, concurrency, onRetry, database] = found;
  const rules = {
    concurrency: concurrency === NO_LIMIT ? null : Number(concurrency),
    onRetry: onRetry as GroupRules['onRetry'],
  };
  return { rules, database };
}
