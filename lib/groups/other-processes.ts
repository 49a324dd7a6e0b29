import type { RedisConnections } from '../redis/redis-connections.js';
import type { GroupRules } from '../store/message-store.js';
import { groupKeys } from '../store/native/native-keys.js';

/** Announces the rules of a process that has just begun to listen, and asks for others' rules. */
const ASK = 'groups?';
/** The answer of a process with different rules. */
const ANSWER = 'groups';

const NO_LIMIT = 'unlimited';

/** The other processes that share the queues in Redis. */
export class OtherProcesses {
  constructor(
    private readonly connections: Pick<RedisConnections, 'announcements' | 'commands' | 'publish'>,
    private readonly prefix: string,
  ) {}

  /** True if a queue holds messages with groups in any state. A store without groups does not see them. */
  async haveGroups(queue: string): Promise<boolean> {
    const { messages } = groupKeys(this.prefix, queue);
    return (await this.connections.commands.send('HLEN', messages)).number() > 0;
  }

  /**
   * Compares how processes handle the groups of a queue or family. Each announces its rules when it begins to listen and after an outage,
   * and those with different rules answer. So both report the difference, and nothing is stored. Versions without this check ignore it.
   *
   * A server's databases share the channel, so rules include the database number and are compared only within the database.
   * @param onOther - called with the rules of a process that has different ones
   */
  announce(queue: string, rules: GroupRules, onOther: (rules: GroupRules) => void): void {
    const { announcements } = this.connections;
    const channel = groupKeys(this.prefix, queue).due;
    const own = textOf(rules);
    // A failed comparison is not reported, because other calls report the cause.
    const announce = (word: string) =>
      void this.connections.publish(channel, `${word} ${own} ${announcements.database}`).catch(() => undefined);
    announcements.listen(channel, {
      onListening: () => announce(ASK),
      onMessage: (text) => {
        const other = readRules(text);
        if (other?.database !== announcements.database || textOf(other.rules) === own) return;
        if (text.startsWith(ASK)) announce(ANSWER);
        onOther(other.rules);
      },
    });
  }
}

function textOf({ concurrency, onRetry, rate }: GroupRules): string {
  return `${concurrency ?? NO_LIMIT} ${onRetry}${rate ? ` ${rate.max}/${rate.per}` : ''}`;
}

/** Reads announced rules. Undefined if the string announces something else. */
function readRules(text: string): { readonly rules: GroupRules; readonly database: string } | undefined {
  const found = /^groups\?? (\d+|unlimited) (hold|pass)(?: (\d+)\/(\d+))? (\d+)$/.exec(text);
  if (!found) return undefined;
  const [, concurrency, onRetry, max, per, database] = found;
  const rules = {
    concurrency: concurrency === NO_LIMIT ? null : Number(concurrency),
    onRetry: onRetry as GroupRules['onRetry'],
    rate: max === undefined ? null : { max: Number(max), per: Number(per) },
  };
  return { rules, database: database! };
}
