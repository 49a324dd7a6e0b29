import type { RedisScript } from './redis-script.js';
import { ScriptReply } from './script-reply.js';
import { RedisConnection, type ConnectionSettings } from './redis-connection.js';
import { closed, isErrorReply, notConnected, outcomeUnknown, refused } from './redis-errors.js';

export type ScriptArgument = string | number | Buffer;

/** Runs scripts over one connection that all queues of a process share. */
export class RedisCommands {
  readonly #settings: ConnectionSettings;
  readonly #connection: RedisConnection;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#connection = new RedisConnection('commands', settings);
  }

  connect(): void {
    this.#connection.connect();
  }

  /** From now on no command waits for the connection. */
  hurry(): void {
    this.#connection.hurry();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /**
   * Runs a script.
   *
   * @throws DelayQueueError `NOT_CONNECTED`, `OUTCOME_UNKNOWN`, `STORE_REFUSED`, `CLOSED`
   */
  async run(script: RedisScript, keys: readonly string[], args: readonly ScriptArgument[] = []): Promise<ScriptReply> {
    const { client } = this.#connection;
    const { clock, commandTimeout } = this.#settings;
    const deadline = clock.monotonic() + commandTimeout;
    const send = (command: string, code: string) => {
      const reply = client.callBuffer(command, [code, keys.length, ...keys, ...args]);
      return this.#connection.answer(reply, Math.max(0, deadline - clock.monotonic()));
    };

    await this.#connection.ready(script.name);
    try {
      return new ScriptReply(await send('EVALSHA', script.sha1));
    } catch (error) {
      if (!(isErrorReply(error) && error.message.startsWith('NOSCRIPT'))) throw this.#explain(script.name, error);
    }
    // The server forgot the script (SCRIPT FLUSH, a restart) or never knew it: this also teaches it.
    try {
      return new ScriptReply(await send('EVAL', script.source));
    } catch (error) {
      throw this.#explain(script.name, error);
    }
  }

  #explain(command: string, error: unknown): Error {
    if (isErrorReply(error)) return refused(command, error);
    if (this.#connection.isClosed) return closed(command);
    // What ioredis says when it did not send the command at all.
    if (error instanceof Error && error.message.includes('enableOfflineQueue options is false')) {
      return notConnected(command, 0, error);
    }
    return outcomeUnknown(command, error);
  }
}
