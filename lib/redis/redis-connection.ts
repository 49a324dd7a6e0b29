import type { Events } from '../events/events.js';
import { connectionFailures, FailureStreak } from '../events/failure-streak.js';
import type { CancelTimer, Clock } from '../timing/clock.js';
import type { ConnectionOptions } from './connection-options.js';
import { showFailure } from '../message/failure.js';
import type { Reach } from './reach.js';
import { AnswerDeadlines } from './answer-deadlines.js';
import { reportIgnoredLogin } from './ignored-login.js';
import { doWithoutInfo } from './ready-check.js';
import {
  adviceOnLogin,
  closed,
  describeRefusal,
  isErrorReply,
  isMiscount,
  loginRefused,
  notConnected,
  reasonOf,
  type Redirection,
  redirectionOf,
  wasNotSent,
} from './redis-errors.js';
import { type ConnectionRole, createClient, type RedisClient } from './redis-client.js';

export interface ConnectionSettings {
  readonly connection: ConnectionOptions;
  readonly clock: Clock;
  readonly events: Events;
  /** How long a command may wait for the connection and for its answer, ms. */
  readonly commandTimeout: number;
}

/** What a connection may be given instead of creating it. */
export interface ConnectionParts {
  /** Not connected yet. */
  readonly client?: RedisClient;
  /** Where its outages are reported. */
  readonly outage?: FailureStreak;
  /** Called with what a server of a cluster says about where a key is. */
  readonly onRedirection?: (redirection: Redirection) => void;
}

/** What those need who send over a connection: to a server, or to whichever server of a cluster is the right one. */
export interface Wire {
  readonly client: RedisClient;
  readonly isReady: boolean;
  readonly isClosed: boolean;
  connect(): void;
  ready(command: string, timeout?: number): Promise<void>;
  answer<Answer>(answer: Promise<Answer>, patience?: number): Promise<Answer>;
  /** Whether an error says that the key is not, or not yet, on this server. If so, the next command goes where it is. */
  isElsewhere(error: unknown): boolean;
  close(): Promise<void>;
}

/** How long closing may take, ms; before that, ioredis destroys a socket that the other side does not close. */
const CLOSE_TIMEOUT = 1000;

/** How soon a client that has given up is made to connect again, ms. */
const REOPEN_PAUSE = 1000;

/** A server that owes an answer for longer than this, or a connection that takes longer to open, is not waited for, ms. */
const LONGEST_SILENCE = 1000;

/** The result of a wait for the connection. */
type Outcome = 'ready' | 'refused' | 'closed' | 'late';

/** The states of a client that has a socket. */
const OPEN: readonly string[] = ['connecting', 'connect', 'ready'];

/**
 * One connection: opened when it is first needed, kept open, and closed once; its outages are reported. It is ready only with
 * the user, the database and the protocol that it asked for. While the server refuses them, calls fail at once, and the
 * connection keeps retrying.
 */
export class RedisConnection implements Wire {
  readonly #settings: ConnectionSettings;
  readonly client: RedisClient;
  readonly #deadlines: AnswerDeadlines;
  readonly #outage: FailureStreak;
  readonly #onRedirection: ConnectionParts['onRedirection'];
  readonly #waiting = new Set<(outcome: Outcome) => void>();
  /** The last error of the present outage. */
  #lastError: unknown;
  /** Since when it is being opened, on the monotonic clock. */
  #openingSince: number;
  #wasReady = false;
  /** Until it is ready, or refused, for the first time. */
  #isStarting = true;
  #hurried = false;
  #isResting = false;
  #cancelOpening: CancelTimer | undefined;
  #closed = false;

  constructor(role: ConnectionRole, settings: ConnectionSettings, parts: ConnectionParts = {}) {
    this.#settings = settings;
    this.#outage = parts.outage ?? new FailureStreak(settings.clock, connectionFailures(settings.events, role));
    this.#onRedirection = parts.onRedirection;
    this.#deadlines = new AnswerDeadlines(settings.clock, (patience) => this.reconnect(noAnswer(patience)));
    this.#openingSince = settings.clock.monotonic();
    this.client = parts.client ?? createClient(settings.connection, role);
    doWithoutInfo(this.client);
    reportIgnoredLogin(this.client, settings.events);
    this.client.on('error', (error: unknown) => this.#onError(error));
    this.client.on('ready', () => this.#onReady());
    this.client.on('connect', () => this.#onConnect());
    this.client.on('close', () => this.#onClose());
    this.client.on('end', () => this.#onEnd());
  }

  get isReady(): boolean {
    return this.client.status === 'ready' && !this.#closed;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  get reach(): Reach {
    if (this.isReady) return this.#deadlines.longestWait < LONGEST_SILENCE ? 'ready' : 'silent';
    const isOpening = this.#settings.clock.monotonic() - this.#openingSince < LONGEST_SILENCE;
    return isOpening && this.#lastError === undefined ? 'opening' : 'lost';
  }

  /** Opens the connection in the background; failures are logged and retried. */
  connect(): void {
    const { status } = this.client;
    if (this.#closed || (status !== 'wait' && status !== 'end')) return;
    this.#isResting = false;
    // Mostly the same error as in an 'error' event, with less detail.
    this.client.connect().catch((error: unknown) => (this.#lastError ??= reasonOf(error)));
  }

  /**
   * Waits until commands can be sent.
   *
   * @param command - the command that is to be sent, for the error
   * @param timeout - ms; default: `commandTimeout`
   * @throws DelayQueueError `NOT_CONNECTED` after `timeout` ms, `LOGIN_REFUSED`, `CLOSED`
   */
  async ready(command: string, timeout = this.#settings.commandTimeout): Promise<void> {
    if (this.isReady) return;
    if (this.#closed) throw closed(command);
    if (this.#isRefused) throw loginRefused(command, this.#lastError);
    if (this.#hurried) throw notConnected(command, 0, this.#lastError);
    this.connect();
    const outcome = await this.#nextOutcome(timeout);
    if (outcome === 'closed') throw closed(command);
    if (outcome === 'refused') throw loginRefused(command, this.#lastError);
    if (outcome === 'late') throw notConnected(command, this.#settings.commandTimeout, this.#lastError);
  }

  /** From now on no command waits for the connection: without one, it fails at once. */
  hurry(): void {
    this.#hurried = true;
    this.#endWaits('late');
  }

  /**
   * Waits for an answer, for `limit` ms at most. A connection whose peer vanished silently looks like a slow one: if it answers
   * nobody for `patience` ms, it is replaced by a new one.
   */
  answer<Answer>(answer: Promise<Answer>, patience = this.#settings.commandTimeout, limit = patience): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const answered = this.#deadlines.add(limit, patience, () => reject(new Error(noAnswer(limit))));
      answer.then(answered, answered);
      answer.then(resolve, reject);
    });
  }

  isElsewhere(error: unknown): boolean {
    const redirection = this.#onRedirection && redirectionOf(error);
    if (redirection) this.#onRedirection?.(redirection);
    return redirection !== undefined;
  }

  /** Drops the connection and opens a new one. */
  reconnect(reason: string): void {
    if (this.#closed) return;
    this.#lastError = new Error(reason);
    this.#outage.failed(reason);
    this.#drop();
  }

  /** Closes the connection; its unanswered commands fail. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelOpening?.();
    this.#endWaits('closed');
    // Without a socket there is nothing to wait for, and ioredis emits no 'end'.
    const open = OPEN.includes(this.client.status);
    const ended = new Promise<void>((resolve) => this.client.once('end', () => resolve()));
    this.client.disconnect();
    if (open) {
      await new Promise<void>((resolve) => {
        const cancelTimer = this.#settings.clock.schedule(resolve, CLOSE_TIMEOUT);
        void ended.then(cancelTimer).then(resolve);
      });
    }
    this.#deadlines.endAll();
  }

  /** Closes the connection until {@link connect}. */
  rest(): void {
    this.#isResting = true;
    this.client.disconnect();
  }

  /** Closes the connection because nobody needs this server any more: an outage is over. */
  retire(): Promise<void> {
    this.#outage.worked();
    return this.close();
  }

  /** The socket is open. If the other side vanishes now, ioredis waits for the answer to its greeting forever. */
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
    this.#outage.worked();
    this.#endWaits('ready');
  }

  /** A server in protected mode, or one that expects TLS, may close the connection without an error. */
  #onClose(): void {
    this.#cancelOpening?.();
    const wasReady = this.#wasReady;
    this.#wasReady = false;
    if (wasReady) this.#openingSince = this.#settings.clock.monotonic();
    if (!wasReady && !this.#isResting && this.#lastError === undefined)
      this.#onError(new Error('the connection was closed before it was ready'));
  }

  #onError(error: unknown): void {
    // ioredis reports the first for what it tried to send after the connection was dropped. The second harms nobody.
    if (this.#closed || wasNotSent(error) || isMiscount(error)) return;
    const reason = reasonOf(error);
    this.#lastError = reason;
    // A start that is refused fails, and nothing is retried. Otherwise, the next attempt is soon refused as well.
    if (!this.#isRefused || !this.#isStarting)
      this.#outage.failed(this.#isRefused ? describeRefusal(reason) : showFailure(reason));
    this.#isStarting &&= !this.#isRefused;
    // An answer to what ioredis sends to log in. Even without its database it would go on, in another one.
    if (isErrorReply(reason)) this.#drop();
    if (this.#isRefused) this.#endWaits('refused');
  }

  /** ioredis gives up only if connecting throws. */
  #onEnd(): void {
    if (this.#closed || this.#isResting) return;
    this.#cancelOpening = this.#settings.clock.schedule(() => this.connect(), REOPEN_PAUSE);
  }

  get #isRefused(): boolean {
    return adviceOnLogin(this.#lastError) !== undefined;
  }

  #drop(): void {
    // A half-open socket would wait forever for the other side to close it.
    if ('stream' in this.client) this.client.stream?.destroy();
    else this.client.disconnect(true);
  }

  #nextOutcome(timeout: number): Promise<Outcome> {
    return new Promise((resolve) => {
      const cancelTimer = this.#settings.clock.schedule(() => done('late'), timeout);
      const done = (outcome: Outcome) => {
        cancelTimer();
        this.#waiting.delete(done);
        resolve(outcome);
      };
      this.#waiting.add(done);
    });
  }

  #endWaits(outcome: Outcome): void {
    for (const done of [...this.#waiting]) done(outcome);
  }
}

const noAnswer = (limit: number) => `no answer within ${Math.round(limit)} ms`;
