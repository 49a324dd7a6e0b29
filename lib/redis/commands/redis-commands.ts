import { atMost } from '../../timing/pauses.js';
import type { ConnectionSettings } from '../connection/redis-connection.js';
import {
  closed,
  connectedTooLate,
  explain,
  isErrorReply,
  notConnected,
  serverTimeOfLateCall,
  wasNotSent,
} from '../redis-errors.js';
import type { RedisScript } from '../script/redis-script.js';
import { type ScriptArgument, type ScriptCall, wordsOf } from '../script/script-call.js';
import type { ScriptReply } from '../script/script-reply.js';
import type { Copies } from './copies.js';
import type { RedisServer } from './redis-server.js';
import { type RedisServers, SingleServer } from './redis-servers.js';

/** How soon to retry with a client that looked ready but could not send, ms. */
const UNNOTICED_PAUSE = 5;

/** The share of a call's time that must be left when it is sent after a wait, or sent again. */
const TIME_TO_ANSWER = 0.1;

/** Sends scripts and commands over connections that all queues of a process share. */
export class RedisCommands {
  constructor(
    readonly servers: RedisServers,
    private readonly settings: Pick<ConnectionSettings, 'clock' | 'commandTimeout'> & {
      /** What every script waits for; undefined: nothing. */
      readonly copies?: Copies | undefined;
      /** No call takes effect after this instant of the clock. */
      readonly notAfter?: number;
    },
  ) {}

  /** Sends everything to one of the servers, wherever the keys are. */
  on(server: RedisServer): RedisCommands {
    return new RedisCommands(new SingleServer(server), this.settings);
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
   * Runs a script. A script with a deadline never takes effect after it, however late the network delivers the call: by then a
   * caller who was told that the outcome is unknown may have done something else.
   *
   * @throws DelayQueueError `NOT_CONNECTED`, `LOGIN_REFUSED`, `OUTCOME_UNKNOWN`, `STORE_REFUSED`, `CLOSED`
   */
  run<Part extends string>(script: RedisScript<Part>, call: ScriptCall<NoInfer<Part>>): Promise<ScriptReply> {
    const [first] = script.keys;
    const wordsFor = (server: RedisServer, deadline: number) =>
      wordsOf(script, call, script.hasDeadline ? server.timeAt(deadline) : 0);
    return this.#call(script.name, first && call.keys[first.part], wordsFor, script);
  }

  /**
   * Sends a command; its first word, if there is one, is its key. Commands and scripts of one turn leave in their order, if they
   * go to the same server.
   *
   * @throws DelayQueueError like {@link run}
   */
  send(command: string, ...words: ScriptArgument[]): Promise<ScriptReply> {
    return this.#call(command, words.length > 0 ? String(words[0]) : undefined, () => words);
  }

  /** Waits for the connection, sends, and sends again what was certainly not carried out. */
  async #call(
    name: string,
    key: string | undefined,
    wordsFor: (server: RedisServer, deadline: number) => ScriptArgument[],
    script?: RedisScript,
  ): Promise<ScriptReply> {
    const { clock, commandTimeout, notAfter } = this.settings;
    const latest = clock.monotonic() + commandTimeout;
    const deadline = notAfter === undefined || notAfter > latest ? latest : notAfter;
    let asking: RedisServer | undefined;
    for (;;) {
      const server = asking ?? this.servers.of(key);
      if (!server?.connection.isReady || !server.toldTime) {
        await this.#untilReady(name, key, deadline, asking);
        continue;
      }
      const showing = script && server.scripts.showing(script);
      if (showing) {
        await this.#untilShown(name, deadline, showing);
        continue;
      }
      const sentAt = clock.monotonic();
      const words = wordsFor(server, deadline);
      const options = { deadline, asking: asking !== undefined };
      try {
        return script
          ? await server.scripts.call(script, words, { ...options, copies: this.settings.copies })
          : await server.send(name, words, options);
      } catch (error) {
        asking = await this.#afterFailure(name, error, { server, sentAt, deadline });
      }
    }
  }

  /** Waits until the server can be sent to and has told its time, by which calls carry their deadline. */
  async #untilReady(name: string, key: string | undefined, deadline: number, asking?: RedisServer): Promise<void> {
    const left = () => Math.max(0, deadline - this.settings.clock.monotonic());
    const server = asking ?? this.servers.of(key);
    if (!server?.connection.isReady)
      await (asking ? asking.connection.ready(name, left()) : this.servers.ready(name, key, left()));
    else {
      await atMost(this.settings.clock, left(), server.askTime());
      if (left() === 0) throw notConnected(name, this.settings.commandTimeout, new Error('it does not answer'));
      // The socket may be closing, and ioredis has not noticed yet.
      if (!server.toldTime) await this.#pause(UNNOTICED_PAUSE);
    }
    if (this.#isTooLate(deadline)) throw connectedTooLate(name, left());
  }

  async #untilShown(name: string, deadline: number, showing: Promise<unknown>): Promise<void> {
    const left = () => Math.max(0, deadline - this.settings.clock.monotonic());
    await atMost(this.settings.clock, left(), showing);
    if (this.#isTooLate(deadline)) throw connectedTooLate(name, left());
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
    if (this.settings.clock.monotonic() >= deadline) throw this.#explain(name, error);
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

  /** An attempt this late would likely end with an unknown outcome; until now, nothing has been carried out. */
  #isTooLate(deadline: number): boolean {
    const { clock, commandTimeout } = this.settings;
    return deadline - clock.monotonic() < commandTimeout * TIME_TO_ANSWER;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.settings.clock.schedule(resolve, ms));
  }

  #explain(command: string, error: unknown) {
    return this.servers.isClosed && !isErrorReply(error) ? closed(command) : explain(command, error);
  }
}
