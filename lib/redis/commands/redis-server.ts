import type { Redis } from 'ioredis';
import type { Clock } from '../../timing/clock.js';
import { RemoteClock } from '../../timing/remote-clock.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import { isErrorReply } from '../redis-errors.js';
import type { RedisScript } from '../script/redis-script.js';
import type { ScriptArgument } from '../script/script-call.js';
import { ScriptReply } from '../script/script-reply.js';
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
  /** What to wait for after the answer of a script; undefined: nothing. */
  readonly copies?: Copies | undefined;
}

/** A server that runs calls: the connection to it, and its clock, which is not that of the other servers of a cluster. */
export class RedisServer {
  #serverClock = new RemoteClock(LONGEST_ROUND_TRIP);
  /** The question about the clock that has not been answered yet. */
  #question: Promise<void> | undefined;
  #toldTime = false;
  /**
   * The scripts that the server has, by digest. One that was sent whole on this connection is there when the server runs what follows it.
   * A promise: the answer to the first call by a digest that an earlier connection knew.
   */
  #scripts = new Map<string, true | Promise<unknown>>();
  readonly #earlierScripts = new Set<string>();

  constructor(
    readonly connection: RedisConnection,
    private readonly clock: Clock,
  ) {
    connection.client.on('ready', () => void this.askTime());
    // The next connection may lead to another server.
    connection.client.on('close', () => {
      this.#serverClock = new RemoteClock(LONGEST_ROUND_TRIP);
      this.#toldTime = false;
      for (const sha1 of this.#scripts.keys()) this.#earlierScripts.add(sha1);
      this.#scripts = new Map();
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

  send(command: string, words: ScriptArgument[], { deadline, asking }: SendOptions): Promise<unknown> {
    const { client } = this.connection;
    // It applies to the next command, whose answer reports any failure.
    if (asking) client.call('ASKING').catch(() => undefined);
    const reply = client.callBuffer(command, words);
    return this.connection.answer(reply, undefined, Math.max(0, deadline - this.clock.monotonic()));
  }

  /** Resolves when it is known whether the server still has a script; undefined: calls of it need not wait for that. */
  showing({ sha1 }: RedisScript): Promise<unknown> | undefined {
    const script = this.#scripts.get(sha1);
    return script === true ? undefined : script;
  }

  /**
   * Sends a script whole the first time, because the server may never have had it, and then by its digest. After a reconnection, one call
   * shows whether the server still has it, and the others wait for that: if it has lost them, all calls would be refused together, and if
   * each connection began with whole scripts, they would fill a narrow network.
   *
   * @param words - from `wordsOf`
   */
  async evaluate(script: RedisScript, words: ScriptArgument[], options: SendOptions): Promise<ScriptReply> {
    const { source, sha1 } = script;
    const scripts = this.#scripts;
    try {
      // Nearly all calls end here, so they are spared another asynchronous function.
      if (scripts.has(sha1) && !options.copies) return new ScriptReply(await this.send('EVALSHA', words, options));
      if (scripts.has(sha1)) return await this.#evaluate('EVALSHA', words, options);
      if (this.#earlierScripts.has(sha1)) return await this.#evaluateFirst(script, words, options);
    } catch (error) {
      // The server has lost it (SCRIPT FLUSH, a restart), or refused the call before it read the script.
      if (!(isErrorReply(error) && error.message.startsWith('NOSCRIPT'))) throw error;
    }
    scripts.set(sha1, true);
    return this.#evaluate('EVAL', [source, ...words.slice(1)], options);
  }

  /** Makes the call that shows whether the server still has a script. */
  async #evaluateFirst({ sha1 }: RedisScript, words: ScriptArgument[], options: SendOptions): Promise<ScriptReply> {
    const scripts = this.#scripts;
    const reply = this.#evaluate('EVALSHA', words, options);
    scripts.set(
      sha1,
      reply.catch(() => undefined),
    );
    try {
      const answer = await reply;
      scripts.set(sha1, true);
      return answer;
    } catch (error) {
      if (isErrorReply(error)) scripts.set(sha1, true);
      else scripts.delete(sha1);
      throw error;
    }
  }

  async #evaluate(command: string, words: ScriptArgument[], options: SendOptions): Promise<ScriptReply> {
    const { copies } = options;
    if (copies) return this.#evaluateCopied(command, words, { ...options, copies });
    return new ScriptReply(await this.send(command, words, options));
  }

  /**
   * Waits for the copies on the same connection, in the same turn: Redis waits for what that connection has written. On another one,
   * or on this one after an outage, it would promise copies of nothing.
   */
  async #evaluateCopied(
    command: string,
    words: ScriptArgument[],
    options: SendOptions & { readonly copies: Copies },
  ): Promise<ScriptReply> {
    const { copies, deadline } = options;
    const written = this.send(command, words, options);
    const wait = waitFor(copies);
    const copied = this.send(wait.command, wait.words, { deadline, asking: false }).then(
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
