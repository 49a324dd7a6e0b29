import type { Redis } from 'ioredis';
import { DelayQueueError } from '../../message/delay-queue-errors.js';
import { showFailure } from '../../message/failure.js';
import { nextTick } from '../../timing/event-loop.js';
import { RemoteClock } from '../../timing/remote-clock.js';
import type { ConnectionRole } from '../connection/redis-client.js';
import {
  type ConnectionParts,
  type ConnectionSettings,
  type Reach,
  RedisConnection,
} from '../connection/redis-connection.js';
import { isErrorReply } from '../redis-errors.js';
import { type ScriptArgument, ScriptReply } from '../script/script-call.js';
import { type Send, type SendOptions, ServerFunctions } from '../script/server-functions.js';

/**
 * An answer that took longer says too little about the server's clock, so it is asked again, ms. Networks that are slow but sound
 * are faster, and after an outage each question costs the calls that wait a round trip.
 */
const MAX_ROUND_TRIP = 250;

/** The servers that hold the keys: a single one, or the primaries of a cluster. */
export interface RedisServers {
  readonly isClosed: boolean;
  /** True if there is a connection to any of them. */
  readonly isConnected: boolean;
  /** Opens connections in the background. */
  connect(): void;
  /** The server that has a key, or any if there is none; undefined if that is not known yet. Its connection may not be ready. */
  of(key: string | undefined): RedisServer | undefined;
  /** What is known about the way to the server that has the keys of a hash slot. */
  reachOf(hashSlot: number): Reach;
  /**
   * Waits until {@link of} returns a server that can be sent to.
   *
   * @param command - the command that is to be sent, for the error
   * @throws DelayQueueError `NOT_CONNECTED` after `timeout` ms, `LOGIN_REFUSED`, `CLOSED`
   */
  ready(command: string, timeout?: number, key?: string): Promise<void>;
  /** All of them. @throws like {@link ready} */
  all(command: string): Promise<readonly RedisServer[]>;
  /** The way around an error; undefined if there is none, so that the call has failed. */
  detour(error: unknown): Detour | undefined;
  /** Calls `listener` whenever the connection to a server becomes ready. */
  onReady(listener: (server: RedisServer) => void): void;
  /** From now on no command waits for a connection. */
  failFast(): void;
  close(): Promise<void>;
}

/** How to send a call again after an error reply that says that nothing was done here. */
export interface Detour {
  /** How long to wait first, ms. */
  readonly pause: number;
  /** The server to ask this once, because the key is on its way there. */
  readonly asking?: RedisServer | undefined;
}

/** What a write waits for before it is answered. */
export interface Copies {
  /** How many replicas have it; 0 or more. */
  readonly replicas: number;
  /** For how long, ms. */
  readonly within: number;
  /** True if the primary and those replicas must have it on disk. */
  readonly fsync: boolean;
}

export interface ServerSettings extends ConnectionSettings {
  /** What each function of a producer waits for after its answer; undefined: nothing. */
  readonly copies?: Copies | undefined;
}

/**
 * A server that runs calls. It is ready once it has told its time, by which calls carry their deadlines; those to a server that refuses
 * to tell it carry none. By itself it is all the servers there are.
 */
export class RedisServer extends RedisConnection implements RedisServers {
  readonly functions: ServerFunctions;
  /** Sends the call of a function as {@link send} does, and waits for its copies, if it has to. */
  readonly call: Send;
  readonly #settings: ServerSettings;
  /** The servers of a cluster have a clock each. */
  #serverClock = new RemoteClock(MAX_ROUND_TRIP);
  /** The question about the clock that has not been answered yet. */
  #question: Promise<boolean> | undefined;

  constructor(role: ConnectionRole, settings: ServerSettings, parts?: ConnectionParts) {
    super(role, settings, parts);
    this.#settings = settings;
    const copies = role === 'producer' ? settings.copies : undefined;
    this.call = copies ? this.#sendCopied.bind(this, copies) : this.send.bind(this);
    this.functions = new ServerFunctions(this.call, settings);
    // The next connection may lead to another server.
    this.client.on('close', () => {
      this.#serverClock = new RemoteClock(MAX_ROUND_TRIP);
      this.functions.onConnectionLost();
    });
  }

  /** The user that this process is logged in as. */
  get user(): string {
    return (this.client as Redis).options.username ?? 'default';
  }

  get isConnected(): boolean {
    return this.isReady;
  }

  of(): RedisServer {
    return this;
  }

  reachOf(): Reach {
    return this.reach;
  }

  async all(command: string): Promise<readonly RedisServer[]> {
    await this.ready(command);
    return [this];
  }

  detour(): undefined {
    return undefined;
  }

  /** The latest time that the server's clock may show at an instant of the monotonic clock, ms; 0 if not known. */
  timeAt(monotonic: number, now: number): number {
    if (this.#serverClock.isStale(now)) void this.#askTime();
    return Math.ceil(this.#serverClock.at(monotonic));
  }

  /** Takes note of the server's time, ms, in an answer to what was sent at `sentAt`, on the monotonic clock. */
  noteTime(serverTime: number, sentAt: number): void {
    this.#serverClock.learn(serverTime, { sentAt, receivedAt: this.#settings.clock.monotonic() });
  }

  async send(command: string, words: ScriptArgument[], options: SendOptions): Promise<ScriptReply> {
    const { sentAt, deadline, asking } = options;
    if (this.deadlines.pending.size > 0) this.#writeOnceATurn();
    // It applies to the next command, whose answer reports any failure.
    if (asking) this.client.call('ASKING').catch(() => undefined);
    const answer = this.client.callBuffer(command, words);
    return new ScriptReply(await this.answer(answer, this.#settings.commandTimeout, sentAt, deadline));
  }

  /**
   * Holds back what follows in this turn of the event loop: ioredis makes a system call for each command, which with many at once is as
   * much work as all the rest. A lone call is not held back.
   */
  #writeOnceATurn(): void {
    const { stream } = this.client as Redis;
    if (stream.writableCorked > 0) return;
    stream.cork();
    nextTick(() => stream.uncork());
  }

  protected override prepare(): Promise<boolean> {
    return this.#askTime();
  }

  /**
   * Waits for the copies on the same connection, in the same turn: Redis waits for what that connection has written. On another one,
   * or on this one after an outage, it would promise copies of nothing.
   */
  async #sendCopied(copies: Copies, command: string, words: ScriptArgument[], options: SendOptions) {
    const written = this.send(command, words, options);
    const wait = waitFor(copies);
    const copied = this.send(wait.command, wait.words, { ...options, asking: false }).then(
      (reply) => missingCopies(reply, copies),
      (error: unknown) => error,
    );
    const reply = await written;
    const problem = await copied;
    if (problem !== undefined) reply.notCopied = notReplicated(copies, problem);
    return reply;
  }

  /** Asks the server for its time, once at a time. @returns false if the connection was lost; it is never rejected */
  #askTime(): Promise<boolean> {
    this.#question ??= this.#ask().finally(() => (this.#question = undefined));
    return this.#question;
  }

  async #ask(): Promise<boolean> {
    try {
      await this.#readTime();
      // The answer took long. On a network that is always slow, the second one is no better, and is good enough.
      if (this.#serverClock.isStale(this.#settings.clock.monotonic())) await this.#readTime();
      return true;
    } catch (error) {
      return isErrorReply(error);
    }
  }

  async #readTime(): Promise<void> {
    const sentAt = this.#settings.clock.monotonic();
    const [seconds, microseconds] = await this.answer(this.client.time());
    this.noteTime(Number(seconds) * 1000 + Number(microseconds) / 1000, sentAt);
  }
}

/** The command that waits for what its connection has written, and answers with how many have it. */
export function waitFor({ replicas, within, fsync }: Copies): { command: string; words: ScriptArgument[] } {
  return fsync ? { command: 'WAITAOF', words: [1, replicas, within] } : { command: 'WAIT', words: [replicas, within] };
}

/**
 * Reads the answer of {@link waitFor}.
 *
 * @returns what is missing, for people to read; undefined: nothing
 */
function missingCopies(answer: ScriptReply, { replicas, fsync }: Copies): string | undefined {
  if (fsync && answer.number() < 1) return 'the primary has not written it to disk';
  const copied = answer.number();
  return copied < replicas ? `${copied} of ${replicas} replicas have confirmed it` : undefined;
}

/** The error for what the primary has, but perhaps nobody else. */
function notReplicated({ within }: Copies, reason: unknown): DelayQueueError {
  const problem = typeof reason === 'string' ? reason : showFailure(reason);
  return new DelayQueueError(
    'NOT_REPLICATED',
    `Redis has carried it out, but it is not known to be copied within ${within} ms: ${problem}. It is only undone if the ` +
      'primary is lost before it is copied; a later call that succeeds confirms it, too.',
    { cause: reason },
  );
}
