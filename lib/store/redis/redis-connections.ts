import type { Doorbell } from '../message-store.js';
import { RedisAnnouncements } from './redis-announcements.js';
import { RedisCommands } from './redis-commands.js';
import type { ConnectionSettings } from './redis-connection.js';
import { RedisDoorbell } from './redis-doorbell.js';

/** Every connection of a process: one for commands, one for announcements, one for each consumer's doorbell. */
export class RedisConnections {
  readonly commands: RedisCommands;
  readonly announcements: RedisAnnouncements;
  readonly #settings: ConnectionSettings;

  constructor(settings: ConnectionSettings & { readonly heartbeat: number }) {
    this.#settings = settings;
    this.commands = new RedisCommands(settings);
    this.announcements = new RedisAnnouncements(settings, settings.heartbeat);
  }

  /** The caller closes it. */
  openDoorbell(key: string): Doorbell {
    return new RedisDoorbell(key, this.#settings);
  }

  async close(): Promise<void> {
    await Promise.all([this.commands.close(), this.announcements.close()]);
  }
}
