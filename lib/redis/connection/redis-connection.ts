import type { TLSSocket } from 'node:tls';
import type { ClusterOptions, RedisOptions } from 'ioredis';
import type { Events } from '../../events/events.js';
import { connectionFailures, FailureStreak } from '../../events/failure-streak.js';
import { showFailure } from '../../message/failure.js';
import type { CancelTimer, Clock } from '../../timing/clock.js';
import { atMost, Pauses } from '../../timing/pauses.js';
import type { ConnectionOptions } from '../options/connection-options.js';
import type { Scripting } from '../script/server-functions.js';
import {
  adviceOnConnecting,
  closed,
  closedEarly,
  describeRefusal,
  isErrorReply,
  isLoginRefusal,
  isMiscount,
  loginRefused,
  notConnected,
  reasonOf,
  type Redirection,
  redirectionOf,
  unansweredHandshake,
  wasNotSent,
} from '../redis-errors.js';
import { AnswerDeadlines, type Deadline } from './answer-deadlines.js';
import { type ConnectionRole, createClient, type RedisClient, tolerateRefusedGreeting } from './redis-client.js';
import type { Startup } from './startup.js';

/** How long after its timeout a blocked call may still be answered before the connection counts as dead, ms. */
export const ANSWER_GRACE = 5000;

/** A connection to a server, or to whichever server of a cluster has a certain key. */
export interface Connection {
  readonly client: RedisClient;
  readonly isClosed: boolean;
  /**
   * Waits until commands can be sent, and opens the connection if necessary. Failures to open it are logged and retried.
   * @param command - the command to be sent, for the error
   * @param timeout - ms; default: `commandTimeout`
   * @throws DelayQueueError `NOT_CONNECTED` after `timeout` ms, `LOGIN_REFUSED`, `CLOSED`
   */
  ready(command: string, timeout?: number): Promise<void>;
  /**
   * Waits for an answer. A peer that vanished silently looks like a slow one, so if no answer arrives for `patience` ms (default:
   * `commandTimeout`), the connection is replaced.
   */
  answer<Answer>(answer: Promise<Answer>, patience?: number): Promise<Answer>;
  /** True if an error says that the key is not on this server, or not yet. The next command then goes to the right server. */
  isElsewhere(error: unknown): boolean;
  close(): Promise<void>;
}

export interface ConnectionSettings {
  readonly connection: ConnectionOptions;
  readonly clock: Clock;
  readonly events: Events;
  /** How long a command may wait for the connection and for its answer, ms. */
  readonly commandTimeout: number;
  /** How functions are called. Default: as functions where they are available. */
  readonly scripting?: Scripting | undefined;
  /** Closes unused connections until the application has started; undefined: they stay open. */
  readonly startup?: Startup | undefined;
}

export interface ConnectionParts {
  /** Not connected yet. */
  readonly client?: RedisClient | undefined;
  readonly outage?: FailureStreak;
  /** Called when a server of a cluster says where a key is. */
  readonly onRedirection?: (redirection: Redirection) => void;
}

/**
 * The state of the connection to a server, as known without asking the server. `ready`: it answers. `silent`: an answer has been
 * outstanding for a second or longer. `opening`: the connection has been opening for less than a second. `lost`: there is none.
 */
export type Reach = 'ready' | 'silent' | 'opening' | 'lost';

/** How long an answer may be outstanding, or a connection may take to open, before {@link Reach} changes, ms. */
const MAX_SILENCE = 1000;

/** Maximum time for closing a connection, ms. If the other side does not close the socket, ioredis destroys it sooner than that. */
const CLOSE_TIMEOUT = 1000;

/** Pause before reopening a client that has given up, ms. */
const REOPEN_PAUSE = 1000;

/** The states of a client that has a socket. */
const OPEN: readonly string[] = ['connecting', 'connect', 'ready'];

/**
 * One connection: opened when it is first needed, kept open, and closed once. Its outages are reported. It is ready only with the requested
 * user, database and protocol. While the server refuses them, calls fail at once, and the connection keeps retrying.
 */
export class RedisConnection implements Connection {
  readonly client: RedisClient;
  protected readonly deadlines: AnswerDeadlines;
  readonly #settings: ConnectionSettings;
  readonly #outage: FailureStreak;
  readonly #onRedirection: ConnectionParts['onRedirection'];
  readonly #waits: Pauses;
  #lastError: unknown;
  /** The probable mistake in the options. Set only while the connection has never been ready. */
  #advice: string | undefined;
  /** When the connection last began to open, on the monotonic clock. */
  #openingSince: number;
  #isPrepared = false;
  readonly #readyListeners: (() => void)[] = [];
  #wasReady = false;
  /** True until the connection is first ready, or refused. */
  #isStarting = true;
  #failsFast = false;
  #isSuspended = false;
  /** True until the client of a suspended connection has ended. */
  #isEnding = false;
  #isResting = false;
  #isClosed = false;
  #cancelOpening: CancelTimer | undefined;

  constructor(role: ConnectionRole, settings: ConnectionSettings, parts: ConnectionParts = {}) {
    const { clock, events } = settings;
    this.#settings = settings;
    this.#outage = parts.outage ?? new FailureStreak(clock, connectionFailures(events, role));
    this.#onRedirection = parts.onRedirection;
    this.#waits = new Pauses(clock);
    this.deadlines = new AnswerDeadlines(clock, (patience) => this.reconnect(noAnswer(patience)));
    this.#openingSince = clock.monotonic();
    this.client = parts.client ?? createClient(settings.connection, role);
    tolerateRefusedGreeting(this.client, events);
    this.client.on('error', (error: unknown) => this.#onError(error));
    this.client.on('connecting', () => this.#onConnecting());
    this.client.on('ready', () => this.#onReady());
    this.client.on('connect', () => this.#onConnect());
    this.client.on('close', () => this.#onClose());
    this.client.on('end', () => this.#onEnd());
  }

  get isReady(): boolean {
    return this.#isPrepared && this.client.status === 'ready';
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** True while a call waits for the connection, or for an answer on it. */
  get isUsed(): boolean {
    return this.#waits.areTaken || this.deadlines.pending.size > 0;
  }

  /** True while the connection is closed because it is not needed: see {@link rest}. */
  get isResting(): boolean {
    return this.#isResting;
  }

  get reach(): Reach {
    if (this.isReady) return this.deadlines.maxWait < MAX_SILENCE ? 'ready' : 'silent';
    if (this.#lastError !== undefined) return 'lost';
    const isOpening = this.#settings.clock.monotonic() - this.#openingSince < MAX_SILENCE;
    return isOpening || this.#isResting ? 'opening' : 'lost';
  }

  /** Opens the connection in the background. */
  connect(): void {
    if (this.#isClosed) return;
    const { status } = this.client;
    // A client suspended between two attempts stays 'reconnecting'. A client that is still ending is opened again once it has ended.
    const isIdle = this.#isSuspended ? !this.#isEnding : status === 'wait' || status === 'end';
    this.#isSuspended = false;
    if (!isIdle) return;
    if (this.#isResting) this.#openingSince = this.#settings.clock.monotonic();
    this.#isResting = false;
    this.#settings.startup?.opened(this);
    // This is usually the error of an earlier 'error' event, but with less detail, so it must not replace that one.
    this.client.connect().catch((error: unknown) => (this.#lastError ??= reasonOf(error)));
  }

  async ready(command: string, timeout = this.#settings.commandTimeout): Promise<void> {
    if (this.isReady) return;
    if (!this.#isClosed && !this.#failsFast && !this.#isRefused) {
      this.connect();
      await this.#waits.take(timeout);
      if (this.isReady) return;
    }
    if (this.#isClosed) throw closed(command);
    if (this.#isRefused) throw loginRefused(command, this.#lastError);
    if (this.#lastError === undefined && this.#awaitsHandshake) this.#noteError(unansweredHandshake());
    const waited = this.#failsFast ? 0 : Math.round(timeout);
    throw notConnected(command, waited, this.#lastError, this.#advice);
  }

  onReady(listener: (connection: this) => void): void {
    this.#readyListeners.push(() => listener(this));
  }

  /** From now on, makes commands without a connection fail at once. */
  failFast(): void {
    this.#failsFast = true;
    this.#waits.end();
  }

  /** `sentAt`: when the command was sent. `at`: when to stop waiting for its answer. Both are on the monotonic clock. */
  answer<Answer>(
    answer: Promise<Answer>,
    patience = this.#settings.commandTimeout,
    sentAt = this.#settings.clock.monotonic(),
    at = sentAt + patience,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const onLate = () => reject(new Error(noAnswer(Math.max(0, at - sentAt))));
      const deadline: Deadline = { at, sentAt, patience, onLate };
      this.deadlines.add(deadline);
      answer.then(
        (value) => {
          this.deadlines.answered(deadline);
          resolve(value);
        },
        (error: Error) => {
          this.deadlines.answered(deadline);
          reject(error);
        },
      );
    });
  }

  isElsewhere(error: unknown): boolean {
    const redirection = this.#onRedirection && redirectionOf(error);
    if (redirection) this.#onRedirection?.(redirection);
    return redirection !== undefined;
  }

  reconnect(reason: string): void {
    if (this.#isClosed) return;
    this.#lastError = new Error(reason);
    this.#outage.failed(reason);
    this.#drop();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isPrepared = false;
    this.#cancelOpening?.();
    this.#settings.startup?.closed(this);
    this.#waits.end();
    // Without a socket there is nothing to wait for, and ioredis emits no 'end'.
    const isOpen = OPEN.includes(this.client.status);
    const ended = new Promise<void>((resolve) => this.client.once('end', () => resolve()));
    this.client.disconnect();
    if (isOpen) await atMost(this.#settings.clock, CLOSE_TIMEOUT, ended);
    this.deadlines.endAll();
  }

  suspend(): void {
    this.#isSuspended = true;
    this.#isEnding = OPEN.includes(this.client.status);
    this.#isPrepared = false;
    this.client.disconnect();
  }

  /** Closes the connection until it is needed, or {@link connect} is called. Does not count as a loss. */
  rest(): void {
    if (this.#isSuspended) return;
    this.#isResting = true;
    this.suspend();
    this.deadlines.endAll();
  }

  /** Closes the connection to a server that is no longer needed, which also ends any outage. */
  retire(): Promise<void> {
    this.#outage.worked();
    return this.close();
  }

  /** Learns what must be known before the first call; resolves to true once it is known. Never rejects. Undefined: nothing to learn. */
  protected prepare(): Promise<boolean> | undefined {
    return undefined;
  }

  /** Limits the time of the TLS handshake: a server without TLS mistakes it for the start of a command, and waits for the rest. */
  #onConnecting(): void {
    if (!this.#isStarting || !this.#usesTls) return;
    const { clock, commandTimeout } = this.#settings;
    this.#cancelOpening?.();
    this.#cancelOpening = clock.schedule(() => {
      if (!this.#awaitsHandshake) return;
      this.#onError(unansweredHandshake());
      this.#drop();
    }, commandTimeout);
  }

  /** The socket has opened. Sets a timer: if the other side vanishes now, ioredis waits forever for the answer to its handshake. */
  #onConnect(): void {
    const { clock, commandTimeout } = this.#settings;
    this.#cancelOpening?.();
    this.#cancelOpening = clock.schedule(() => this.reconnect(`not ready within ${commandTimeout} ms`), commandTimeout);
  }

  #onReady(): void {
    this.#cancelOpening?.();
    this.#wasReady = true;
    this.#isStarting = false;
    this.#lastError = undefined;
    this.#advice = undefined;
    this.#outage.worked();
    const prepared = this.prepare();
    if (prepared) void prepared.then((isKnown) => isKnown && this.#onPrepared());
    else this.#onPrepared();
  }

  #onPrepared(): void {
    if (this.#isClosed) return;
    this.#isPrepared = true;
    this.#waits.end();
    for (const listener of this.#readyListeners) listener();
  }

  /** A server in protected mode, or one that expects TLS, may close the connection without an error. */
  #onClose(): void {
    this.#cancelOpening?.();
    this.#isPrepared = false;
    if (this.#wasReady) this.#openingSince = this.#settings.clock.monotonic();
    else if (!this.#isSuspended && !this.#isEnding && this.#lastError === undefined) this.#onError(closedEarly());
    this.#wasReady = false;
  }

  #onError(error: unknown): void {
    // Two errors say nothing new: the connection was dropped before the command was sent, or ioredis has miscounted answers.
    if (this.#isClosed || wasNotSent(error) || isMiscount(error)) return;
    const reason = this.#noteError(error);
    const isRefused = this.#isRefused;
    // A refusal on the first attempt is not reported as an outage, because it makes startup fail. If the process carries on anyway, the
    // next attempt is soon refused too, and that refusal is reported.
    if (!isRefused || !this.#isStarting)
      this.#outage.failed(isRefused ? describeRefusal(reason) : this.#describe(reason));
    if (isRefused) this.#isStarting = false;
    // The server has answered the handshake with an error. ioredis would continue anyway, even in the wrong database.
    if (isErrorReply(reason)) this.#drop();
    if (isRefused) this.#waits.end();
  }

  #noteError(error: unknown): unknown {
    const reason = reasonOf(error);
    this.#lastError = reason;
    this.#advice = this.#isStarting ? adviceOnConnecting(reason, this.#usesTls) : undefined;
    return reason;
  }

  #describe(reason: unknown): string {
    return this.#advice === undefined ? showFailure(reason) : `${showFailure(reason)} (${this.#advice})`;
  }

  get #usesTls(): boolean {
    const { options } = this.client as { readonly options: RedisOptions & ClusterOptions };
    return Boolean(options.tls ?? options.redisOptions?.tls);
  }

  /** True if the server has accepted the connection but not answered the TLS handshake. */
  get #awaitsHandshake(): boolean {
    const { stream } = this.client as {
      readonly stream?: Partial<TLSSocket> & { readonly secureConnecting?: boolean };
    };
    return stream?.secureConnecting === true && stream.connecting === false;
  }

  /** Reconnects. ioredis gives up by itself only if connecting throws. */
  #onEnd(): void {
    const pause = this.#isEnding ? 0 : REOPEN_PAUSE;
    this.#isEnding = false;
    if (this.#isClosed || this.#isSuspended) return;
    this.#cancelOpening = this.#settings.clock.schedule(() => this.connect(), pause);
  }

  get #isRefused(): boolean {
    return isLoginRefusal(this.#lastError);
  }

  #drop(): void {
    // A half-open socket would wait forever for the other side to close it.
    if ('stream' in this.client) this.client.stream?.destroy();
    else this.client.disconnect(true);
  }
}

const noAnswer = (limit: number) => `no answer within ${Math.round(limit)} ms`;
