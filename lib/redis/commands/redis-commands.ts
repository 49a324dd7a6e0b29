import type { Clock } from '../../timing/clock.js';
import { atMost } from '../../timing/pauses.js';
import { closed, connectedTooLate, explain, isErrorReply, serverTimeOfLateCall, wasNotSent } from '../redis-errors.js';
import type { RedisFunction } from '../script/redis-library.js';
import { type ScriptArgument, type ScriptCall, wordsOf } from '../script/script-call.js';
import type { ScriptReply } from '../script/script-reply.js';
import type { RedisServer, RedisServers } from './redis-server.js';

/** How soon to retry with a client that looked ready but could not send, ms. */
const UNNOTICED_PAUSE = 5;

/** The share of a call's time that must be left when it is sent after a wait, or sent again. */
const TIME_TO_ANSWER = 0.1;

interface Settings {
  readonly clock: Clock;
  /** How long a call may wait for the connection and for its answer, ms. */
  readonly commandTimeout: number;
  /** No call takes effect after this instant of the clock. */
  readonly notAfter?: number;
}

/** What was sent to whom, and when, on the monotonic clock. */
interface Attempt {
  readonly server: RedisServer;
  readonly sentAt: number;
  readonly deadline: number;
}

/** Sends calls of functions and commands over connections that all queues of a process share. */
export class RedisCommands {
  constructor(
    readonly servers: RedisServers,
    private readonly settings: Settings,
  ) {}

  /** Sends everything to one of the servers, wherever the keys are. */
  on(server: RedisServer): RedisCommands {
    return new RedisCommands(server, this.settings);
  }

  /** Sends what must take effect before an instant, or never. */
  before(notAfter: number): RedisCommands {
    return new RedisCommands(this.servers, { ...this.settings, notAfter });
  }

  /**
   * Reads the `INFO` of the server, or of every primary of a cluster.
   *
   * @throws DelayQueueError like {@link run}
   */
  async info(): Promise<string[]> {
    const servers = await this.servers.all('INFO');
    const replies = await Promise.all(servers.map((server) => this.on(server).send('INFO')));
    return replies.map((reply) => reply.text());
  }

  /**
   * Runs a function. One with a deadline never takes effect after it, however late the network delivers the call: by then a
   * caller who was told that the outcome is unknown may have done something else.
   *
   * @throws DelayQueueError `NOT_CONNECTED`, `LOGIN_REFUSED`, `OUTCOME_UNKNOWN`, `STORE_REFUSED`, `CLOSED`
   */
  run<Part extends string>(called: RedisFunction<Part>, call: ScriptCall<NoInfer<Part>>): Promise<ScriptReply> {
    const first = called.keys[0]?.[0];
    return this.#call(called.name, first && call.keys[first.part], call, called);
  }

  /**
   * Sends a command; its first word, if there is one, is its key. Commands and functions of one turn leave in their order, if they
   * go to the same server.
   *
   * @throws DelayQueueError like {@link run}
   */
  send(command: string, ...words: ScriptArgument[]): Promise<ScriptReply> {
    return this.#call(command, words.length > 0 ? String(words[0]) : undefined, words);
  }

  /** Waits for the connection, sends, and sends again what was certainly not carried out. */
  async #call(
    name: string,
    key: string | undefined,
    given: ScriptCall | ScriptArgument[],
    called?: RedisFunction,
  ): Promise<ScriptReply> {
    const { clock, commandTimeout, notAfter = Infinity } = this.settings;
    const deadline = Math.min(clock.monotonic() + commandTimeout, notAfter);
    let asking: RedisServer | undefined;
    for (;;) {
      const server = asking ?? this.servers.of(key);
      const showing = server?.isReady && called && server.functions.showing(called, (given as ScriptCall).further ?? 0);
      if (!server?.isReady || showing) {
        if (showing) await atMost(clock, this.#left(deadline), showing);
        else await (asking ?? this.servers).ready(name, this.#left(deadline), key);
        if (this.#isTooLate(deadline)) throw connectedTooLate(name, this.#left(deadline));
        continue;
      }
      const sentAt = clock.monotonic();
      const options = { deadline, asking: asking !== undefined };
      const words = Array.isArray(given)
        ? given
        : wordsOf(called!, given, called!.hasDeadline ? server.timeAt(deadline) : 0);
      try {
        return await (called ? server.functions.call(called, words, options) : server.send(name, words, options));
      } catch (error) {
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
  async #afterFailure(name: string, error: unknown, attempt: Attempt): Promise<RedisServer | undefined> {
    const { server, sentAt, deadline } = attempt;
    if (this.#left(deadline) === 0) throw this.#explain(name, error);
    const serverTime = serverTimeOfLateCall(error);
    // The server's clock was set forward; the call changed nothing.
    if (serverTime !== undefined) return void server.noteTime(serverTime, sentAt);
    // The socket is closing, and ioredis has not noticed yet.
    if (wasNotSent(error)) return void (await this.#pause(UNNOTICED_PAUSE));
    const detour = this.servers.detour(error);
    if (!detour || this.#isTooLate(deadline)) throw this.#explain(name, error);
    if (detour.pause > 0) await this.#pause(detour.pause);
    return detour.asking;
  }

  #left(deadline: number): number {
    return Math.max(0, deadline - this.settings.clock.monotonic());
  }

  /** An attempt this late would likely end with an unknown outcome; until now, nothing has been carried out. */
  #isTooLate(deadline: number): boolean {
    return this.#left(deadline) < this.settings.commandTimeout * TIME_TO_ANSWER;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.settings.clock.schedule(resolve, ms));
  }

  #explain(command: string, error: unknown) {
    return this.servers.isClosed && !isErrorReply(error) ? closed(command) : explain(command, error);
  }
}
