import type { Cluster, Redis } from 'ioredis';
import type { DelayQueueError } from '../../message/delay-queue.errors.js';
import type { RedisScript } from './redis-script.js';
import { type ScriptArgument, type ScriptCall, wordsOf } from './script-call.js';
import { ScriptReply } from './script-reply.js';
import { RedisConnection, type ConnectionSettings } from './redis-connection.js';
import { closed, explain, isErrorReply, serverTimeOfLateCall, wasNotSent } from './redis-errors.js';
import { ServerClock } from './server-clock.js';

/** How soon to retry with a client that looked ready but could not send, ms. */
const UNNOTICED_PAUSE = 5;

/** Runs scripts and commands over one connection that all queues of a process share. */
export class RedisCommands {
  readonly #settings: ConnectionSettings;
  readonly #connection: RedisConnection;
  readonly #serverClock = new ServerClock();
  #learning = false;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#connection = new RedisConnection('commands', settings);
    this.#connection.client.on('ready', () => void this.#learnServerClock());
  }

  connect(): void {
    this.#connection.connect();
  }

  /** Calls `listener` whenever the connection becomes ready: the first time, and after each outage. */
  onReady(listener: () => void): void {
    this.#connection.client.on('ready', listener);
  }

  /**
   * Reads the `INFO` of the server, or of every primary of a cluster.
   *
   * @throws DelayQueueError like {@link run}
   */
  async info(): Promise<string[]> {
    const { client } = this.#connection;
    await this.#connection.ready('INFO');
    try {
      const servers = client.isCluster ? (client as Cluster).nodes('master') : [client as Redis];
      return await this.#connection.answer(Promise.all(servers.map((server) => server.info())));
    } catch (error) {
      throw this.#explain('INFO', error);
    }
  }

  /** From now on no command waits for the connection. */
  hurry(): void {
    this.#connection.hurry();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /**
   * Runs a script. A script with a deadline never takes effect after it, however late the network delivers the call: by then a
   * caller who was told that the outcome is unknown may have done something else.
   *
   * @throws DelayQueueError `NOT_CONNECTED`, `LOGIN_REFUSED`, `OUTCOME_UNKNOWN`, `STORE_REFUSED`, `CLOSED`
   */
  run<Part extends string>(script: RedisScript<Part>, call: ScriptCall<NoInfer<Part>>): Promise<ScriptReply> {
    return this.#call(script.name, (deadline) => {
      if (script.hasDeadline && this.#serverClock.isStale(this.#settings.clock.monotonic()))
        void this.#learnServerClock();
      const words = wordsOf(script, call, this.#serverClock.at(deadline));
      return () => this.#evaluate(script, words, deadline);
    });
  }

  /**
   * Sends a command. Commands and scripts of one turn leave in their order.
   *
   * @throws DelayQueueError like {@link run}
   */
  send(command: string, ...words: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#call(command, (deadline) => () => this.#send(command, words, deadline));
  }

  /**
   * Waits for the connection, sends, and sends again what was not sent or came too late by a clock that was set.
   *
   * @param prepare - called for each attempt with the time, on the monotonic clock, at which the caller gives up
   */
  async #call(name: string, prepare: (deadline: number) => () => Promise<unknown>): Promise<ScriptReply> {
    const { clock, commandTimeout } = this.#settings;
    const deadline = clock.monotonic() + commandTimeout;
    for (;;) {
      if (!this.#connection.isReady) {
        await this.#connection.ready(name, Math.max(0, deadline - clock.monotonic()));
      }
      const sentAt = clock.monotonic();
      const attempt = prepare(deadline);
      try {
        return new ScriptReply(await attempt());
      } catch (error) {
        const serverTime = serverTimeOfLateCall(error);
        if (clock.monotonic() >= deadline) throw this.#explain(name, error);
        // The server's clock was set forward; the call changed nothing.
        if (serverTime !== undefined) this.#serverClock.learn(serverTime, sentAt);
        else if (!wasNotSent(error)) throw this.#explain(name, error);
        // The socket is closing, and ioredis has not noticed yet.
        else await new Promise<void>((resolve) => clock.schedule(resolve, UNNOTICED_PAUSE));
      }
    }
  }

  /** A failure is ignored, because the next call tries again. */
  async #learnServerClock(): Promise<void> {
    if (this.#learning) return;
    this.#learning = true;
    const sentAt = this.#settings.clock.monotonic();
    try {
      const [seconds, microseconds] = await this.#connection.answer(this.#connection.client.time());
      this.#serverClock.learn(Number(seconds) * 1000 + Number(microseconds) / 1000, sentAt);
    } catch {
      // What is known of the clock stays in use.
    } finally {
      this.#learning = false;
    }
  }

  async #evaluate(script: RedisScript, words: readonly ScriptArgument[], deadline: number): Promise<unknown> {
    try {
      return await this.#send('EVALSHA', [script.sha1, ...words], deadline);
    } catch (error) {
      if (!(isErrorReply(error) && error.message.startsWith('NOSCRIPT'))) throw error;
    }
    // The server has lost the script (SCRIPT FLUSH, a restart) or never had it; EVAL also loads it.
    return this.#send('EVAL', [script.source, ...words], deadline);
  }

  #send(command: string, words: readonly ScriptArgument[], deadline: number): Promise<unknown> {
    const reply = this.#connection.client.callBuffer(command, [...words]);
    return this.#connection.answer(reply, Math.max(0, deadline - this.#settings.clock.monotonic()));
  }

  #explain(command: string, error: unknown): DelayQueueError {
    return this.#connection.isClosed && !isErrorReply(error) ? closed(command) : explain(command, error);
  }
}
