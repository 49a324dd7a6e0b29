import type { Clock } from '../../timing/clock.js';
import { atMost, sleep } from '../../timing/pauses.js';
import { closed, connectedTooLate, explain, isErrorReply, serverTimeOfLateCall, wasNotSent } from '../redis-errors.js';
import type { RedisFunction, RedisLibrary } from '../script/redis-library.js';
import { type ScriptArgument, type ScriptCall, type ScriptReply, wordsOf } from '../script/script-call.js';
import type { RedisServer, RedisServers } from './redis-server.js';

/** Pause before a retry with a client that appeared ready but could not send, ms. */
const UNNOTICED_PAUSE = 5;

/** The minimum share of `commandTimeout` that must be left to send a call after a wait, or to send it again. */
const TIME_TO_ANSWER = 0.1;

interface Settings {
  readonly clock: Clock;
  readonly commandTimeout: number;
}

/** A Redis command. `words`: its arguments; the first of them, if any, is its key. */
export interface RedisCommand {
  readonly name: string;
  readonly words: ScriptArgument[];
}

/** Times are on the monotonic clock. */
interface Attempt {
  readonly server: RedisServer;
  /** The called function's library; undefined for a command. */
  readonly library: RedisLibrary | undefined;
  readonly sentAt: number;
  readonly deadline: number;
}

const NO_KEYS: ScriptCall = { keys: {} };

/** Sends function calls and commands over connections shared by all queues of a process. */
export class RedisCommands {
  constructor(
    readonly servers: RedisServers,
    private readonly settings: Settings,
  ) {}

  on(server: RedisServer): RedisCommands {
    return new RedisCommands(server, this.settings);
  }

  /** Reads the `INFO` of the server, or of every primary of a cluster. @throws DelayQueueError like {@link run} */
  async info(): Promise<string[]> {
    const servers = await this.servers.all('INFO');
    const replies = await Promise.all(servers.map((server) => this.on(server).send('INFO')));
    return replies.map((reply) => reply.text());
  }

  /**
   * Sends a command. The first argument, if any, is its key. Calls made in one turn of the event loop to the same server are sent in order.
   * @throws DelayQueueError like {@link run}
   */
  send(name: string, ...words: ScriptArgument[]): Promise<ScriptReply> {
    return this.run({ name, words });
  }

  /**
   * Waits for the connection, calls a function, and calls it again if it was certainly not carried out. A function with a deadline never
   * takes effect after it, however late the network delivers the call: the caller, told that the outcome is unknown, may have done
   * something else by then.
   * @throws DelayQueueError `NOT_CONNECTED`, `LOGIN_REFUSED`, `OUTCOME_UNKNOWN`, `STORE_REFUSED`, `CLOSED`
   */
  async run<Part extends string>(
    called: RedisFunction<Part> | RedisCommand,
    call: ScriptCall<NoInfer<Part>> = NO_KEYS,
  ): Promise<ScriptReply> {
    const { clock, commandTimeout } = this.settings;
    const { name } = called;
    const isCommand = 'words' in called;
    const { further = 0, notAfter = Infinity } = call;
    let sentAt = clock.monotonic();
    const deadline = Math.min(sentAt + commandTimeout, notAfter);
    const key = isCommand ? called.words[0]?.toString() : called.firstKey && call.keys[called.firstKey];
    let asking: RedisServer | undefined;
    for (; ; sentAt = clock.monotonic()) {
      const server = asking ?? this.servers.of(key);
      const isLoaded = isCommand || server?.functions.loaded.has(called.library);
      const showing = isLoaded || !server?.isReady ? undefined : server.functions.showing(called, further);
      if (!server?.isReady || showing) {
        if (showing) await atMost(clock, this.#left(deadline), showing);
        else await (asking ?? this.servers).ready(name, this.#left(deadline), key);
        if (this.#isTooLate(deadline)) throw connectedTooLate(name, this.#left(deadline));
        continue;
      }
      const options = { sentAt, deadline, asking: asking !== undefined };
      const until = !isCommand && called.hasDeadline ? server.timeAt(deadline, sentAt) : 0;
      const words = isCommand ? called.words : wordsOf(called, call, until);
      try {
        if (isCommand) return await server.send(name, words, options);
        if (isLoaded) return await server.call('FCALL', words, options);
        return await server.functions.call(called, further, words, options);
      } catch (error) {
        const library = isCommand ? undefined : called.library;
        asking = await this.#afterFailure(name, error, { server, library, sentAt, deadline });
      }
    }
  }

  /**
   * Waits until it is worth sending a call again.
   * @returns the server for the next attempt only; undefined: the usual one
   * @throws DelayQueueError if the call has failed, or may have been carried out
   */
  async #afterFailure(name: string, error: unknown, attempt: Attempt): Promise<RedisServer | undefined> {
    const { server, library, sentAt, deadline } = attempt;
    if (this.#left(deadline) === 0) throw this.#explain(name, error);
    if (library && server.functions.isGone(library, error)) return undefined;
    const serverTime = serverTimeOfLateCall(error);
    // The server's clock has been set forward, and the call changed nothing.
    if (serverTime !== undefined) return void server.noteTime(serverTime, sentAt);
    // The socket is closing, and ioredis has not noticed yet.
    if (wasNotSent(error)) return void (await sleep(this.settings.clock, UNNOTICED_PAUSE));
    const detour = this.servers.detour(error);
    if (!detour || this.#isTooLate(deadline)) throw this.#explain(name, error);
    if (detour.pause > 0) await sleep(this.settings.clock, detour.pause);
    return detour.asking;
  }

  #left(deadline: number): number {
    return Math.max(0, deadline - this.settings.clock.monotonic());
  }

  /** True if too little time is left to get an answer to another attempt. The call has not been carried out so far. */
  #isTooLate(deadline: number): boolean {
    return this.#left(deadline) < this.settings.commandTimeout * TIME_TO_ANSWER;
  }

  #explain(command: string, error: unknown) {
    return this.servers.isClosed && !isErrorReply(error) ? closed(command) : explain(command, error);
  }
}
