import type { Events } from '../../events/events.js';
import { hasCode, showFailure } from '../../message/failure.js';
import { DelayQueueError } from '../../message/delay-queue.errors.js';
import { describeMissing, findMissing, type NeededCommand } from './permissions.js';
import type { RedisCommands } from './redis-commands.js';
import { lacksPermission } from './redis-errors.js';
import { checkServer, identifyServer } from './server-check.js';

export interface RedisCheckOptions {
  readonly commands: RedisCommands;
  /** The queues that this process must be able to serve. */
  readonly queues: readonly { readonly name: string; readonly needed: readonly NeededCommand[] }[];
  readonly allowEviction: boolean;
  readonly events: Events;
}

/** Checks Redis at the start, and whenever the connection is back, because it may then lead to another server. */
export class RedisCheck {
  readonly #options: RedisCheckOptions;
  /** The servers whose permissions were sufficient; undefined if there are none yet, or the servers cannot be identified. */
  #permittedBy: string | undefined;
  #isChecking = false;

  constructor(options: RedisCheckOptions) {
    this.#options = options;
  }

  /**
   * Checks now, and from now on after each outage; problems found later are only logged.
   *
   * @throws DelayQueueError `LOGIN_REFUSED`, `UNSUPPORTED_SERVER`, `MISSING_PERMISSION`; other codes if the check could not run
   */
  async start(): Promise<void> {
    const { commands, events } = this.#options;
    commands.onReady(() => {
      // The first connection is what the first check waits for.
      if (this.#isChecking) return;
      // If the connection is lost during the check, the next one is checked.
      this.#check().catch(
        (error: unknown) => isVerdict(error) && events.emit('server-unfit', { reason: showFailure(error) }),
      );
    });
    await this.#check();
  }

  async #check(): Promise<void> {
    this.#isChecking = true;
    try {
      const servers = await this.#checkServers();
      if (servers !== undefined && servers === this.#permittedBy) return;
      this.#permittedBy = undefined;
      await this.#checkPermissions();
      this.#permittedBy = servers;
    } finally {
      this.#isChecking = false;
    }
  }

  /** @returns the identity of the servers; undefined if they do not reveal it */
  async #checkServers(): Promise<string | undefined> {
    const { commands, allowEviction, events } = this.#options;
    const infos = await commands.info().catch((error: unknown) => {
      if (!isRefusedByAcl(error)) throw error;
      events.emit('server-unidentified', { reason: error.message });
      return [];
    });
    for (const info of infos) checkServer(info, { allowEviction });
    return infos.length > 0 ? infos.map(identifyServer).sort().join() : undefined;
  }

  async #checkPermissions(): Promise<void> {
    const { commands, queues } = this.#options;
    try {
      const missing = await Promise.all(queues.map(({ needed }) => findMissing(commands, needed)));
      const problems = queues.flatMap(({ name }, i) =>
        missing[i]!.length > 0
          ? [`Queue '${name}' cannot be served: the Redis user lacks ${describeMissing(missing[i]!)}`]
          : [],
      );
      if (problems.length === 0) return;
      throw new DelayQueueError('MISSING_PERMISSION', `${problems.join('. ')}: extend its ACL, see docs/operations.md`);
    } catch (error) {
      if (!isRefusedByAcl(error)) throw error;
      throw new DelayQueueError('MISSING_PERMISSION', `No queue can be served: ${error.message}`, { cause: error });
    }
  }
}

/** Whether a check has found a problem that does not go away by itself, unlike an outage, a failover or a lack of memory. */
export function isVerdict(error: unknown): boolean {
  return hasCode(error, 'LOGIN_REFUSED', 'UNSUPPORTED_SERVER', 'MISSING_PERMISSION');
}

function isRefusedByAcl(error: unknown): error is DelayQueueError {
  return hasCode(error, 'STORE_REFUSED') && lacksPermission(error.cause);
}
