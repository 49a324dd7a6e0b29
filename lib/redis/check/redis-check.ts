import type { Events } from '../../events/events.js';
import { DelayQueueError } from '../../message/delay-queue-errors.js';
import { hasCode, showFailure } from '../../message/failure.js';
import type { RedisCommands } from '../commands/redis-commands.js';
import type { Copies, RedisServer } from '../commands/redis-server.js';
import { lacksPermission } from '../redis-errors.js';
import { describeMissing, findMissing, type NeededCommand } from './permissions.js';
import { checkServer, infoField, verdictOn } from './server-info.js';

export interface CheckedPermissions {
  readonly name: string;
  readonly needed: () => readonly NeededCommand[];
}

export interface RedisCheckOptions {
  readonly commands: RedisCommands;
  readonly queues: readonly CheckedPermissions[];
  readonly allowEviction: boolean;
  /** The copies that offers wait for; undefined: none. */
  readonly copies?: Copies | undefined;
  readonly events: Events;
  /** Called once the first check has found no problem. `info` is undefined if the user may not send `INFO`. */
  readonly onFirst: (servers: readonly RedisServer[], info: string | undefined) => void;
}

/**
 * Checks Redis at startup and after each reconnection, which may lead to another server. Permissions are checked once for each combination
 * of server version and user. For another server of the same version, only one queue is checked: a failover would otherwise cost a call for
 * each queue of each process.
 */
export class RedisCheck {
  readonly #options: RedisCheckOptions;
  /** Servers that have become ready since the last check. */
  readonly #unchecked = new Set<RedisServer>();
  /** The identities of servers that have granted all permissions. */
  readonly #permittedBy = new Set<string>();
  /** Combinations of version and user for which all queues have been checked. */
  readonly #askedAbout = new Set<string>();
  #isChecking = false;
  #isFirst = true;
  #latestInfo: string | undefined;

  constructor(options: RedisCheckOptions) {
    this.#options = options;
  }

  /**
   * Checks now and after each outage. Problems found later are only logged.
   * @throws DelayQueueError `LOGIN_REFUSED`, `UNSUPPORTED_SERVER`, `MISSING_PERMISSION`; other codes if the check could not run
   */
  async start(): Promise<void> {
    const { commands, events } = this.#options;
    commands.servers.onReady((server) => {
      this.#unchecked.add(server);
      if (this.#isChecking) return;
      // If the connection is lost during the check, the check runs again on the next connection.
      this.#check([]).catch(
        (error: unknown) => isVerdict(error) && events.emit('server-unsupported', { reason: showFailure(error) }),
      );
    });
    await this.#check(commands.servers.all('INFO'));
  }

  /** @param servers - servers to check in addition to those in `#unchecked` */
  async #check(servers: readonly RedisServer[] | Promise<readonly RedisServer[]>): Promise<void> {
    this.#isChecking = true;
    try {
      for (const server of await servers) this.#unchecked.add(server);
      while (this.#unchecked.size > 0) {
        const next = [...this.#unchecked];
        this.#unchecked.clear();
        await Promise.all(next.map((server) => this.#checkServer(server)));
      }
    } finally {
      this.#isChecking = false;
    }
    if (this.#isFirst) await this.#reportFirst();
  }

  async #reportFirst(): Promise<void> {
    const { commands, onFirst } = this.#options;
    const servers = await commands.servers.all('INFO');
    if (!this.#isFirst) return;
    this.#isFirst = false;
    onFirst(servers, this.#latestInfo);
  }

  async #checkServer(server: RedisServer): Promise<void> {
    const commands = this.#options.commands.on(server);
    try {
      const info = await this.#readInfo(commands);
      if (info !== undefined) checkServer(info, this.#options);
      this.#latestInfo = info;
      const kind = `${infoField(info ?? '', 'redis_version')} ${server.user}`;
      const identity = info === undefined ? undefined : `${infoField(info, 'run_id')} ${kind}`;
      if (identity !== undefined && this.#permittedBy.has(identity)) return;
      await this.#checkPermissions(commands, kind);
      if (identity !== undefined) this.#permittedBy.add(identity);
    } catch (error) {
      if (!server.isClosed) this.#unchecked.add(server);
      throw error;
    }
  }

  /** @returns undefined if the user may not send `INFO` */
  async #readInfo(commands: RedisCommands): Promise<string | undefined> {
    try {
      const [info] = await commands.info();
      return info;
    } catch (error) {
      if (!(hasCode(error, 'STORE_REFUSED') && lacksPermission(error.cause))) throw verdictOn(error);
      this.#options.events.note('server-unidentified', { reason: error.message });
      return undefined;
    }
  }

  async #checkPermissions(commands: RedisCommands, kind: string): Promise<void> {
    const { queues } = this.#options;
    if (this.#askedAbout.has(kind) && (await findProblems(commands, queues.slice(0, 1))).length === 0) return;
    // Added before the answer arrives, so that other servers of this kind are asked about one queue only.
    this.#askedAbout.add(kind);
    const problems = await findProblems(commands, queues);
    if (problems.length > 0)
      throw new DelayQueueError('MISSING_PERMISSION', `${problems.join('. ')}: extend its ACL, see docs/operations.md`);
  }
}

/** @returns a sentence for each queue that cannot be served */
async function findProblems(commands: RedisCommands, queues: readonly CheckedPermissions[]): Promise<string[]> {
  const lacking = new Map<string, NeededCommand[]>();
  for (const { queue, ...command } of await findMissing(commands, neededBy(queues)))
    lacking.set(queue, [...(lacking.get(queue) ?? []), command]);
  return [...lacking].map(
    ([queue, missing]) => `Queue '${queue}' cannot be served: the Redis user lacks ${describeMissing(missing)}`,
  );
}

function* neededBy(queues: readonly CheckedPermissions[]) {
  for (const { name, needed } of queues) for (const command of needed()) yield { ...command, queue: name };
}

/** True if a check has found a permanent problem, rather than an outage, a failover or a lack of memory. */
export function isVerdict(error: unknown): boolean {
  return hasCode(error, 'LOGIN_REFUSED', 'UNSUPPORTED_SERVER', 'MISSING_PERMISSION');
}
