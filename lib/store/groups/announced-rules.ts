import type { RedisConnections } from '../../redis/redis-connections.js';
import type { GroupRules } from '../message-store.js';
import { laneKeys } from '../native/lane-keys.js';

/** A process that has just begun to listen tells its rules, and asks for others. */
const ASK = 'groups?';
/** The answer of one that has others. */
const ANSWER = 'groups';

const NO_LIMIT = 'unlimited';

export interface AnnouncedRulesOptions {
  readonly connections: Pick<RedisConnections, 'announcements' | 'commands'>;
  readonly prefix: string;
  /** The name of a queue, or of a family of queues. */
  readonly queue: string;
  /** Those of this process. */
  readonly rules: GroupRules;
  /** Called with the rules of a process that has others. */
  readonly onOther: (rules: GroupRules) => void;
}

/**
 * Compares how processes handle the groups of a queue: each says so once it listens, and again after an outage, and those that differ
 * answer. So whoever comes second tells both, and nothing is stored. Versions that do not know these announcements pass them over.
 *
 * @returns what ends it
 */
export function announceRules({ connections, prefix, queue, rules, onOther }: AnnouncedRulesOptions): () => void {
  const { announcements, commands } = connections;
  const channel = laneKeys(prefix, queue).due;
  const own = textOf(rules);
  const publish = async (word: string) => {
    const heard = await commands.send(announcements.command, channel, `${word} ${own}`);
    // Those that listen to a pattern of channels hear nothing else.
    if (heard.number() === 0 && announcements.command === 'SPUBLISH') {
      await commands.send('PUBLISH', channel, `${word} ${own}`);
    }
  };
  // A comparison that fails is not worth a word: whatever is amiss, other calls tell.
  const tell = (word: string) => void publish(word).catch(() => undefined);
  return announcements.listen(channel, {
    onListening: () => tell(ASK),
    onMessage: (text) => {
      const other = readRules(text);
      if (!other || textOf(other) === own) return;
      if (text.startsWith(ASK)) tell(ANSWER);
      onOther(other);
    },
  });
}

function textOf({ concurrency, onRetry }: GroupRules): string {
  return `${concurrency ?? NO_LIMIT} ${onRetry}`;
}

/** @returns undefined: the text announces something else */
function readRules(text: string): GroupRules | undefined {
  const found = /^groups\?? (\d+|unlimited) (hold|pass)$/.exec(text);
  if (!found) return undefined;
  const [, concurrency, onRetry] = found;
  return {
    concurrency: concurrency === NO_LIMIT ? null : Number(concurrency),
    onRetry: onRetry as GroupRules['onRetry'],
  };
}
