import type { Doorbell } from '../message-flow.js';
import { awaitElement, BlockingWait, type BlockingCommand, popToken } from './blocking-wait.js';
import { RedisAnnouncements } from './redis-announcements.js';
import { RedisCommands } from './redis-commands.js';
import type { ConnectionSettings } from './redis-connection.js';

/** All connections of a process: one for commands, one for announcements, and one for each consumer's doorbell. */
export class RedisConnections {
  readonly commands: RedisCommands;
  readonly announcements: RedisAnnouncements;
  readonly #settings: ConnectionSettings;
  readonly #waits = new Set<Doorbell>();

  constructor(settings: ConnectionSettings & { readonly heartbeat: number }) {
    this.#settings = settings;
    this.commands = new RedisCommands(settings);
    this.announcements = new RedisAnnouncements(settings, settings.heartbeat);
  }

  /** Rings when there is a token in a list, and takes it. */
  openDoorbell(key: string): Doorbell {
    return this.#openWait(popToken(key));
  }

  /** Rings while a list is not empty, and takes nothing. */
  openListWatch(key: string): Doorbell {
    return this.#openWait(awaitElement(key));
  }

  async close(): Promise<void> {
    await Promise.all([this.commands, this.announcements, ...this.#waits].map((each) => each.close()));
  }

  #openWait(command: BlockingCommand): Doorbell {
    const wait = new BlockingWait(command, this.#settings);
    this.#waits.add(wait);
    return {
      wait: (timeout) => wait.wait(timeout),
      close: async () => {
        await wait.close();
        // Queues come and go while a process runs.
        this.#waits.delete(wait);
      },
    };
  }
}
