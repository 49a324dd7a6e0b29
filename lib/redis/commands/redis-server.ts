import type { Redis } from 'ioredis';
import { DelayQueueError } from '../../message/delay-queue-errors.js';
import { showFailure } from '../../message/failure.js';
import { nextTick } from '../../timing/event-loop.js';
import { RemoteClock } from '../../timing/clock.js';
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
 * Maximum round trip, in ms, of an answer that tells the server's time precisely enough. After a slower answer, the server is asked once
 * more. Healthy networks are faster, even slow ones. A lower limit would cause more questions, and after an outage, calls wait for each.
 */
const MAX_ROUND_TRIP = 250;

/** The servers that hold the keys: a single one, or the primaries of a cluster. */
export interface RedisServers {
  readonly isClosed: boolean;
  /** True if any of the servers accepts commands. */
  readonly isReady: boolean;
  connect(): void;
  /** Returns the server that has a key, or any server if no key is given; undefined if unknown. It may not be connected. */
  of(key: string | undefined): RedisServer | undefined;
  reachOf(hashSlot: number): Reach;
  /** Waits like `Connection.ready` until {@link of} returns a server that accepts commands, and throws the same errors. */
  ready(command: string, timeout?: number, key?: string): Promise<void>;
  all(command: string): Promise<readonly RedisServer[]>;
  /** Returns how to send a call again after an error; undefined if the call has failed. */
  detour(error: unknown): Detour | undefined;
  onReady(listener: (server: RedisServer) => void): void;
  /** From now on, makes commands without a connection fail at once. */
  failFast(): void;
  close(): Promise<void>;
}

/** How to send a call again after an error reply that says that nothing was done. */
export interface Detour {
  /** How long to wait first, ms. */
  readonly pause: number;
  /** The server for this one call, because the key is moving there; undefined: the usual one. */
  readonly asking?: RedisServer | undefined;
}

/** The copies that a write waits for before it is answered. */
export interface Copies {
  /** Minimum number of replicas that must have the write, from 0. */
  readonly replicas: number;
  /** How long to wait, ms. */
  readonly within: number;
  /** True if the primary and those replicas must also have the write on disk. */
  readonly fsync: boolean;
}

export interface ServerSettings extends ConnectionSettings {
  /** The copies that a producer waits for once the server has answered a function call; undefined: none. */
  readonly copies?: Copies | undefined;
}

/**
 * A server that runs calls. It is ready once its time is known, because the deadlines of calls are computed from it. If the server refuses
 * to tell its time, calls carry no deadline. A single server also serves as the set of all servers.
 */
export class RedisServer extends RedisConnection implements RedisServers {
  readonly functions: ServerFunctions;
  /** Like {@link send}, but for a function call, which also waits for the copies, if configured. */
  readonly call: Send;
  readonly #settings: ServerSettings;
  /** Reset with each connection, because each server has its own clock. */
  #serverClock = new RemoteClock(MAX_ROUND_TRIP);
  #question: Promise<boolean> | undefined;

  constructor(role: ConnectionRole, settings: ServerSettings, parts?: ConnectionParts) {
    super(role, settings, parts);
    this.#settings = settings;
    const copies = role === 'producer' ? settings.copies : undefined;
    this.call = copies ? this.#sendCopied.bind(this, copies) : this.send.bind(this);
    this.functions = new ServerFunctions(this.call, settings);
    this.client.on('close', () => {
      this.#serverClock = new RemoteClock(MAX_ROUND_TRIP);
      this.functions.onConnectionLost();
    });
  }

  get user(): string {
    return (this.client as Redis).options.username ?? 'default';
  }

  override get isUsed(): boolean {
    return super.isUsed || this.functions.isProbing;
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

  /** Returns the latest time that the server's clock may show at a time on the monotonic clock, ms; 0 if unknown. */
  timeAt(monotonic: number, now: number): number {
    if (this.#serverClock.isStale(now)) void this.#askTime();
    return Math.ceil(this.#serverClock.at(monotonic));
  }

  /** Notes the server's time, ms, from the answer to a command sent at `sentAt` on the monotonic clock. */
  noteTime(serverTime: number, sentAt: number): void {
    this.#serverClock.learn(serverTime, { sentAt, receivedAt: this.#settings.clock.monotonic() });
  }

  async send(command: string, words: ScriptArgument[], options: SendOptions): Promise<ScriptReply> {
    const { sentAt, deadline, asking } = options;
    if (this.deadlines.pending.size > 0) this.#writeOnceATurn();
    // `ASKING` applies to the next command, whose answer reports any failure.
    if (asking) this.client.call('ASKING').catch(() => undefined);
    const answer = this.client.callBuffer(command, words);
    return new ScriptReply(await this.answer(answer, this.#settings.commandTimeout, sentAt, deadline));
  }

  /** Sends this turn's commands in one system call. ioredis would make one for each command, which doubles the work when there are many. */
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
   * Sends the command that waits for copies right after the call, in the same turn and on the same connection, because it covers only what
   * that connection has written. On another connection, or after a reconnection, Redis would confirm copies of nothing.
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

  /** Asks the server for its time, unless already asking. Never rejects. Returns false if the connection was lost. */
  #askTime(): Promise<boolean> {
    this.#question ??= this.#ask().finally(() => (this.#question = undefined));
    return this.#question;
  }

  async #ask(): Promise<boolean> {
    try {
      await this.#readTime();
      // The answer was slow, so this asks again. A second slow answer is accepted, because the network may always be slow.
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

/** Returns the command that waits for copies of what its connection has written, and answers with their number. */
export function waitFor({ replicas, within, fsync }: Copies): { command: string; words: ScriptArgument[] } {
  return fsync ? { command: 'WAITAOF', words: [1, replicas, within] } : { command: 'WAIT', words: [replicas, within] };
}

/** Reads the answer to {@link waitFor}. @returns what is missing, for display; undefined: nothing */
function missingCopies(answer: ScriptReply, { replicas, fsync }: Copies): string | undefined {
  if (fsync && answer.number() < 1) return 'the primary has not written it to disk';
  const copied = answer.number();
  return copied < replicas ? `${copied} of ${replicas} replicas have confirmed it` : undefined;
}

/** Returns the error for a write that the primary has, but perhaps no replica. */
function notReplicated({ within }: Copies, reason: unknown): DelayQueueError {
  const problem = typeof reason === 'string' ? reason : showFailure(reason);
  return new DelayQueueError(
    'NOT_REPLICATED',
    `Redis has carried it out, but it is not known to be replicated within ${within} ms: ${problem}. It is undone only if the ` +
      'primary is lost before then; a later call that succeeds confirms it, too.',
    { cause: reason },
  );
}
