import type { Redis } from 'ioredis';
import type { Clock } from '../../timing/clock.js';
import { RemoteClock } from '../../timing/remote-clock.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import { isErrorReply } from '../redis-errors.js';
import type { ScriptArgument } from '../script/script-call.js';
import { ScriptReply } from '../script/script-reply.js';
import { ServerScripts } from '../script/server-scripts.js';
import { type Copies, missingCopies, notReplicated, waitFor } from './copies.js';

/**
 * An answer that took longer says too little about the server's clock, so it is asked again, ms. Networks that are slow but sound
 * are faster, and after an outage each question costs the calls that wait a round trip.
 */
const LONGEST_ROUND_TRIP = 250;

/** How to send a call. */
export interface SendOptions {
  /** When to stop waiting for the answer, on the monotonic clock. */
  readonly deadline: number;
  /** Whether to send `ASKING` first, because the key is moving to this server. */
  readonly asking: boolean;
  /** What to wait for after the answer; undefined: nothing. */
  readonly copies?: Copies | undefined;
}

/** A server that runs calls: the connection to it, and its clock, which is not that of the other servers of a cluster. */
export class RedisServer {
  #serverClock = new RemoteClock(LONGEST_ROUND_TRIP);
  /** The question about the clock that has not been answered yet. */
  #question: Promise<void> | undefined;
  #toldTime = false;
  readonly scripts = new ServerScripts<SendOptions>((...call) => this.send(...call));

  constructor(
    readonly connection: RedisConnection,
    private readonly clock: Clock,
  ) {
    connection.client.on('ready', () => void this.askTime());
    // The next connection may lead to another server.
    connection.client.on('close', () => {
      this.#serverClock = new RemoteClock(LONGEST_ROUND_TRIP);
      this.#toldTime = false;
      this.scripts.onConnectionLost();
    });
  }

  /** The user that this process is logged in as. */
  get user(): string {
    return (this.connection.client as Redis).options.username ?? 'default';
  }

  /** Whether calls can carry a deadline. Those to a server that refuses to tell its time carry none. */
  get toldTime(): boolean {
    return this.#toldTime;
  }

  /** The latest time that the server's clock may show at an instant of the monotonic clock, ms; 0 if not known. */
  timeAt(monotonic: number): number {
    if (this.#serverClock.isStale(this.clock.monotonic())) void this.askTime();
    return Math.ceil(this.#serverClock.at(monotonic));
  }

  /** Takes note of the server's time, ms, in an answer to what was sent at `sentAt`, on the monotonic clock. */
  noteTime(serverTime: number, sentAt: number): void {
    this.#serverClock.learn(serverTime, { sentAt, receivedAt: this.clock.monotonic() });
  }

  /** Sends a command, and waits for the copies that the options ask for. */
  async send(command: string, words: ScriptArgument[], options: SendOptions): Promise<ScriptReply> {
    const { copies } = options;
    if (copies) return this.#sendCopied(command, words, { ...options, copies });
    return new ScriptReply(await this.#send(command, words, options));
  }

  #send(command: string, words: ScriptArgument[], { deadline, asking }: SendOptions): Promise<unknown> {
    const { client } = this.connection;
    // It applies to the next command, whose answer reports any failure.
    if (asking) client.call('ASKING').catch(() => undefined);
    const reply = client.callBuffer(command, words);
    return this.connection.answer(reply, undefined, Math.max(0, deadline - this.clock.monotonic()));
  }

  /**
   * Waits for the copies on the same connection, in the same turn: Redis waits for what that connection has written. On another one,
   * or on this one after an outage, it would promise copies of nothing.
   */
  async #sendCopied(
    command: string,
    words: ScriptArgument[],
    options: SendOptions & { readonly copies: Copies },
  ): Promise<ScriptReply> {
    const { copies, deadline } = options;
    const written = this.#send(command, words, options);
    const wait = waitFor(copies);
    const copied = this.#send(wait.command, wait.words, { deadline, asking: false }).then(
      (answer) => missingCopies(answer, copies),
      (error: unknown) => error,
    );
    const reply = await written;
    const problem = await copied;
    return new ScriptReply(reply, problem === undefined ? undefined : notReplicated(copies, problem));
  }

  /** Asks the server for its time, once at a time. Never fails: the next call asks again. */
  askTime(): Promise<void> {
    this.#question ??= this.#ask().finally(() => (this.#question = undefined));
    return this.#question;
  }

  async #ask(): Promise<void> {
    try {
      await this.#readTime();
      // The answer took long. On a network that is always slow, the second one is no better, and is good enough.
      if (this.#serverClock.isStale(this.clock.monotonic())) await this.#readTime();
      this.#toldTime = true;
    } catch (error) {
      this.#toldTime ||= isErrorReply(error);
    }
  }

  async #readTime(): Promise<void> {
    const sentAt = this.clock.monotonic();
    const [seconds, microseconds] = await this.connection.answer(this.connection.client.time());
    this.noteTime(Number(seconds) * 1000 + Number(microseconds) / 1000, sentAt);
  }
}
