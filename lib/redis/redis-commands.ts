import type { Redis } from 'ioredis';
import type { Clock } from '../timing/clock.js';
import type { DelayQueueError } from '../message/delay-queue-errors.js';
import type { Reach } from './reach.js';
import type { RedisScript } from './redis-script.js';
import type { RedisServer } from './redis-server.js';
import { type RedisServers, SingleServer } from './redis-servers.js';
import { type ScriptArgument, type ScriptCall, wordsOf } from './script-call.js';
import { ScriptReply } from './script-reply.js';
import { closed, connectedTooLate, explain, isErrorReply, serverTimeOfLateCall, wasNotSent } from './redis-errors.js';

/** How soon to retry with a client that looked ready but could not send, ms. */
const UNNOTICED_PAUSE = 5;

/** The part of the time for a call that must be left when it is sent after a wait, or sent again. */
const TIME_TO_ANSWER = 0.1;

export interface CommandSettings {
  readonly clock: Clock;
  /** How long a command may wait for the connection and for its answer, ms. */
  readonly commandTimeout: number;
}

/** One attempt to send a call. */
interface Attempt {
  readonly server: RedisServer;
  /** Whether the key is on its way to this server. */
  readonly asking: boolean;
  /** When the caller gives up, on the monotonic clock. */
  readonly deadline: number;
}

/** Runs scripts and commands over connections that all queues of a process share. */
export class RedisCommands {
  constructor(
    private readonly servers: RedisServers,
    private readonly settings: CommandSettings,
  ) {}

  connect(): void {
    this.servers.connect();
  }

  /** Calls `listener` whenever the connection to a server becomes ready: the first time, and after each outage. */
  onReady(listener: (server: RedisServer) => void): void {
    this.servers.onReady(listener);
  }

  /** Whether there is a connection to any server. */
  get isConnected(): boolean {
    return this.servers.isConnected;
  }

  /** What is known of the way to the server that has the keys of a slot; nothing is sent. */
  reachOf(slot: number): Reach {
    return this.servers.reachOf(slot);
  }

  /**
   * The server, or every primary of a cluster, once it is connected.
   *
   * @param command - what is to be sent, for the error
   * @throws DelayQueueError `NOT_CONNECTED`, `LOGIN_REFUSED`, `CLOSED`
   */
  all(command: string): Promise<readonly RedisServer[]> {
    return this.servers.all(command);
  }

  /** The same for one of the servers, wherever the keys are. */
  on(server: RedisServer): RedisCommands {
    return new RedisCommands(new SingleServer(server), this.settings);
  }

  /**
   * Reads the `INFO` of the server, or of every primary of a cluster.
   *
   * @throws DelayQueueError like {@link run}
   */
  async info(): Promise<string[]> {
    const servers = await this.all('INFO');
    try {
      return await Promise.all(servers.map(({ connection }) => connection.answer((connection.client as Redis).info())));
    } catch (error) {
      throw this.#explain('INFO', error);
    }
  }

  /** From now on no command waits for the connection. */
  hurry(): void {
    this.servers.hurry();
  }

  close(): Promise<void> {
    return this.servers.close();
  }

  /**
   * Runs a script. A script with a deadline never takes effect after it, however late the network delivers the call: by then a
   * caller who was told that the outcome is unknown may have done something else.
   *
   * @throws DelayQueueError `NOT_CONNECTED`, `LOGIN_REFUSED`, `OUTCOME_UNKNOWN`, `STORE_REFUSED`, `CLOSED`
   */
  run<Part extends string>(script: RedisScript<Part>, call: ScriptCall<NoInfer<Part>>): Promise<ScriptReply> {
    const [first] = script.keys;
    return this.#call(script.name, first && call.keys[first.part], (attempt) => {
      const deadline = script.hasDeadline ? attempt.server.timeAt(attempt.deadline) : 0;
      const words = wordsOf(script, call, deadline);
      return () => evaluate(script, words, attempt);
    });
  }

  /**
   * Sends a command; its first word, if there is one, is its key. Commands and scripts of one turn leave in their order, if they
   * go to the same server.
   *
   * @throws DelayQueueError like {@link run}
   */
  send(command: string, ...words: readonly ScriptArgument[]): Promise<ScriptReply> {
    const key = words.length > 0 ? String(words[0]) : undefined;
    return this.#call(command, key, (attempt) => () => send(command, words, attempt));
  }

  /**
   * Waits for the connection, sends, and sends again what was certainly not carried out.
   *
   * @param prepare - called for each attempt
   */
  async #call(
    name: string,
    key: string | undefined,
    prepare: (attempt: Attempt) => () => Promise<unknown>,
  ): Promise<ScriptReply> {
    const { clock, commandTimeout } = this.settings;
    const deadline = clock.monotonic() + commandTimeout;
    let asking: RedisServer | undefined;
    for (;;) {
      const server = asking ?? this.servers.of(key);
      if (!server?.connection.isReady) {
        const left = Math.max(0, deadline - clock.monotonic());
        await (asking ? asking.connection.ready(name, left) : this.servers.ready(name, key, left));
        if (this.#isTooLate(deadline)) throw connectedTooLate(name, Math.max(0, deadline - clock.monotonic()));
        continue;
      }
      const sentAt = clock.monotonic();
      const send = prepare({ server, asking: asking !== undefined, deadline });
      try {
        return new ScriptReply(await send());
      } catch (error) {
        if (clock.monotonic() >= deadline) throw this.#explain(name, error);
        asking = await this.#afterFailure(name, error, { server, sentAt, deadline });
      }
    }
  }

  /**
   * Waits until it is worth sending a call again.
   *
   * @returns the server to ask this once
   * @throws DelayQueueError if the call has failed, or may have been carried out
   */
  async #afterFailure(
    name: string,
    error: unknown,
    { server, sentAt, deadline }: { server: RedisServer; sentAt: number; deadline: number },
  ): Promise<RedisServer | undefined> {
    const serverTime = serverTimeOfLateCall(error);
    if (serverTime !== undefined) {
      // The server's clock was set forward; the call changed nothing.
      server.noteTime(serverTime, sentAt);
      return undefined;
    }
    if (wasNotSent(error)) {
      // The socket is closing, and ioredis has not noticed yet.
      await this.#pause(UNNOTICED_PAUSE);
      return undefined;
    }
    const detour = this.servers.detour(error);
    if (!detour || this.#isTooLate(deadline)) throw this.#explain(name, error);
    if (detour.pause > 0) await this.#pause(detour.pause);
    return detour.asking;
  }

  /** What has certainly not been carried out would be unknown after an attempt that leaves no time for its answer. */
  #isTooLate(deadline: number): boolean {
    const { clock, commandTimeout } = this.settings;
    return deadline - clock.monotonic() < commandTimeout * TIME_TO_ANSWER;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.settings.clock.schedule(resolve, ms));
  }

  #explain(command: string, error: unknown): DelayQueueError {
    return this.servers.isClosed && !isErrorReply(error) ? closed(command) : explain(command, error);
  }
}

async function evaluate(script: RedisScript, words: readonly ScriptArgument[], attempt: Attempt): Promise<unknown> {
  try {
    return await send('EVALSHA', [script.sha1, ...words], attempt);
  } catch (error) {
    if (!(isErrorReply(error) && error.message.startsWith('NOSCRIPT'))) throw error;
  }
  // The server has lost the script (SCRIPT FLUSH, a restart) or never had it; EVAL also loads it.
  return send('EVAL', [script.source, ...words], attempt);
}

function send(command: string, words: readonly ScriptArgument[], attempt: Attempt): Promise<unknown> {
  return attempt.server.send(command, words, attempt.deadline, attempt.asking);
}
