import type { Logger } from '@nestjs/common';
import type { CancelTimer, Clock } from '../../clock.js';
import type { ConnectionOptions } from '../../delay-queue.options.js';
import { AnswerDeadlines } from './answer-deadlines.js';
import { closed, notConnected, withoutCommand } from './redis-errors.js';
import { type ConnectionRole, createClient, type RedisClient } from './redis-client.js';

export interface ConnectionSettings {
  readonly connection: ConnectionOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long a command may wait for the connection and for its answer, ms. */
  readonly commandTimeout: number;
}

/** How long a closing connection may take; ioredis destroys the socket of one that gets no goodbye before that. */
const CLOSE_TIMEOUT = 1000;

/** The states of a client that has a socket. */
const OPEN: readonly string[] = ['connecting', 'connect', 'ready'];

/** One connection: opened when it is first needed, kept open, told about in the log, closed once. */
export class RedisConnection {
  readonly #role: ConnectionRole;
  readonly #settings: ConnectionSettings;
  readonly client: RedisClient;
  readonly #deadlines: AnswerDeadlines;
  readonly #waiting = new Set<(outcome: 'ready' | 'closed' | 'late') => void>();
  #lastError: unknown;
  #down = false;
  #hurried = false;
  #cancelOpening: CancelTimer | undefined;
  #closed = false;

  constructor(role: ConnectionRole, settings: ConnectionSettings) {
    this.#role = role;
    this.#settings = settings;
    this.#deadlines = new AnswerDeadlines(settings.clock);
    this.client = createClient(settings.connection, role);
    this.client.on('error', (error: unknown) => this.#onError(error));
    this.client.on('ready', () => this.#onReady());
    this.client.on('connect', () => this.#onConnect());
    this.client.on('close', () => this.#cancelOpening?.());
  }

  get isReady(): boolean {
    return this.client.status === 'ready' && !this.#closed;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Opens the connection in the background; failures are logged and retried. */
  connect(): void {
    const { status } = this.client;
    if (this.#closed || (status !== 'wait' && status !== 'end')) return;
    this.client.connect().catch((error: unknown) => (this.#lastError = withoutCommand(error)));
  }

  /**
   * Waits until commands can be sent.
   *
   * @param command - for the error's text
   * @throws DelayQueueError `NOT_CONNECTED` after `timeout` ms, `CLOSED`
   */
  async ready(command: string, timeout = this.#settings.commandTimeout): Promise<void> {
    if (this.isReady) return;
    if (this.#closed) throw closed(command);
    if (this.#hurried) throw notConnected(command, 0, this.#lastError);
    this.connect();
    const outcome = await new Promise<'ready' | 'closed' | 'late'>((resolve) => {
      const cancelTimer = this.#settings.clock.schedule(() => done('late'), timeout);
      const done = (result: 'ready' | 'closed' | 'late') => {
        cancelTimer();
        this.#waiting.delete(done);
        resolve(result);
      };
      this.#waiting.add(done);
    });
    if (outcome === 'closed') throw closed(command);
    if (outcome === 'late') throw notConnected(command, this.#settings.commandTimeout, this.#lastError);
  }

  /** From now on nobody waits for the connection: without one, commands fail at once. */
  hurry(): void {
    this.#hurried = true;
    for (const done of [...this.#waiting]) done('late');
  }

  /**
   * Waits for an answer, but not for ever: a connection whose peer vanished without a word looks like a slow one. After
   * `limit` ms the wait fails, and the connection is opened anew.
   */
  answer<Answer>(answer: Promise<Answer>, limit = this.#settings.commandTimeout): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const answered = this.#deadlines.add(limit, () => {
        const reason = `no answer within ${Math.round(limit)} ms`;
        reject(new Error(reason));
        this.reconnect(reason);
      });
      answer.then(answered, answered);
      answer.then(resolve, reject);
    });
  }

  /** Drops the connection and opens it anew. */
  reconnect(reason: string): void {
    if (this.#closed) return;
    this.#lastError = new Error(reason);
    this.#settings.logger.warn(`Redis connection for ${this.#role}: ${reason}, connecting anew`);
    // A half-open socket would wait for a goodbye that never comes.
    if ('stream' in this.client) this.client.stream?.destroy();
    else this.client.disconnect(true);
  }

  /** Closes the connection; its unanswered commands fail. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelOpening?.();
    for (const done of [...this.#waiting]) done('closed');
    // Without a socket there is no goodbye to wait for, and ioredis tells of no end.
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

  /** The socket is open. If the other side vanishes now, ioredis waits for the answer to its greeting for ever. */
  #onConnect(): void {
    const { clock, commandTimeout } = this.#settings;
    this.#cancelOpening?.();
    this.#cancelOpening = clock.schedule(() => this.reconnect(`not ready within ${commandTimeout} ms`), commandTimeout);
  }

  #onReady(): void {
    this.#cancelOpening?.();
    if (this.#down) this.#settings.logger.log(`Redis connection for ${this.#role} is back`);
    this.#down = false;
    for (const done of [...this.#waiting]) done('ready');
  }

  #onError(error: unknown): void {
    this.#lastError = withoutCommand(error);
    // Once per outage: a client reports every failed attempt to reconnect.
    if (this.#down || this.#closed) return;
    this.#down = true;
    this.#settings.logger.error(`Redis connection for ${this.#role}: ${String(error)}; it is retried until it works`);
  }
}
