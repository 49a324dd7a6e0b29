import { Logger } from '@nestjs/common';
import type { DelayQueueProducer } from 'nestjs-delay-queue';
import type { OutboxDatabase } from '../database/outbox-database.js';
import type { OutboxTable } from '../table/outbox-table.js';
import { Bell } from './bell.js';
import { ChannelEar } from './channel-ear.js';
import { type Delivery, deliver } from './deliver.js';

/** The shortest pause between two looks at a table that nobody tells of, ms. */
const QUICKEST = 10;
/** The pauses after a failure of the database or of Redis, ms. */
const SHORTEST_PAUSE = 100;
const LONGEST_PAUSE = 5000;
/** How long rows are leased, ms: longer than offering a batch takes. */
const LEASE = 30_000;

/** What the relay needs. */
export interface RelayParts {
  readonly database: OutboxDatabase;
  readonly table: OutboxTable;
  readonly producer: DelayQueueProducer;
  /** How many rows it takes at once. */
  readonly batchSize: number;
  /** The longest pause between two looks, ms. */
  readonly pollInterval: number;
}

/** What a look at the table has led to. */
interface Look {
  readonly taken: number;
  /** Rows wait for others that somebody else has. */
  readonly heldBack: boolean;
  readonly unreachable: unknown;
}

const NOTHING: Look = { taken: 0, heldBack: false, unreachable: undefined };

/** How a relay is doing. */
export interface RelayStatus {
  /** Whether it runs in this process. */
  readonly running: boolean;
  /** Whether commits wake it; otherwise it looks from time to time. */
  readonly listening: boolean;
  /** Rows that it has relayed since it started. */
  readonly relayed: number;
  /** Why it cannot relay at the moment: the error of the database, or of Redis. */
  readonly problem: string | undefined;
}

/** Hands committed rows to the delay queue, and removes them. Any number of relays, in any number of processes, share a table. */
export class OutboxRelay {
  readonly #logger = new Logger('DelayQueueOutbox');
  readonly #bell = new Bell();
  #ear: ChannelEar | undefined;
  #loop: Promise<void> | undefined;
  #isStopping = false;
  #relayed = 0;
  #problem: string | undefined;
  #pause = QUICKEST;

  constructor(private readonly parts: RelayParts) {}

  get status(): RelayStatus {
    return {
      running: this.#loop !== undefined && !this.#isStopping,
      listening: this.#ear?.isListening ?? false,
      relayed: this.#relayed,
      problem: this.#problem,
    };
  }

  start(): void {
    const { database, table } = this.parts;
    if (database.listen) {
      this.#ear = new ChannelEar(database.listen.bind(database), table.name, () => this.#bell.ring());
    }
    this.#loop = this.#run();
  }

  /** Finishes what it is doing. What is left is for other relays, and for the next start. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#bell.ring();
    await this.#loop;
    await this.#ear?.close();
  }

  /** Somebody in this process has written a row, and will commit it soon. */
  expect(): void {
    if (this.#ear?.isListening || this.#problem !== undefined) return;
    this.#pause = QUICKEST;
    this.#bell.ring();
  }

  /** Relays one batch. */
  async look(): Promise<Look> {
    return this.parts.database.locking === 'rows' ? this.#lookInOneTransaction() : this.#lookUnderLease();
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      let look = NOTHING;
      let failure: unknown;
      try {
        look = await this.look();
        failure = look.unreachable;
      } catch (error) {
        failure = error;
      }
      this.#tell(failure);
      if (failure === undefined) await this.#waitAfter(look);
      else await this.#waitOut();
    }
  }

  async #waitAfter({ taken, heldBack }: Look): Promise<void> {
    const { batchSize, pollInterval } = this.parts;
    if (taken === batchSize) return;
    if (this.#ear?.isListening) {
      await this.#bell.wait(heldBack ? QUICKEST : pollInterval);
      return;
    }
    if (taken > 0 || heldBack) this.#pause = QUICKEST;
    const started = performance.now();
    await this.#bell.wait(this.#pause);
    const rest = QUICKEST - (performance.now() - started);
    if (rest > 0 && !this.#isStopping) await new Promise((resolve) => setTimeout(resolve, rest));
    this.#pause = Math.min(this.#pause * 2, pollInterval);
  }

  /** Notifications go on while Redis is away, so they do not end this pause. */
  async #waitOut(): Promise<void> {
    const end = performance.now() + this.#pause;
    for (let rest = this.#pause; rest > 0 && !this.#isStopping; rest = end - performance.now()) await this.#bell.wait(rest);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
  }

  async #lookInOneTransaction(): Promise<Look> {
    const { database, table, batchSize } = this.parts;
    return database.transaction(async (sql) => {
      const { rows, heldBack } = await table.take(sql, batchSize);
      if (rows.length === 0) return { ...NOTHING, heldBack };
      const delivery = await deliver(this.parts.producer, rows);
      await table.remove(sql, delivery.done);
      for (const failed of delivery.failed) await table.fail(sql, failed);
      return this.#delivered(delivery, heldBack);
    });
  }

  async #lookUnderLease(): Promise<Look> {
    const { database, table, batchSize } = this.parts;
    const { rows, heldBack } = await database.transaction(async (sql) => {
      const taken = await table.take(sql, batchSize);
      await table.lease(sql, taken.rows, LEASE);
      return taken;
    });
    if (rows.length === 0) return { ...NOTHING, heldBack };
    const delivery = await deliver(this.parts.producer, rows);
    await database.transaction(async (sql) => {
      await table.remove(sql, delivery.done);
      await table.release(sql, delivery.left);
      for (const failed of delivery.failed) await table.fail(sql, failed);
    });
    return this.#delivered(delivery, heldBack);
  }

  #delivered({ done, failed, left, unreachable }: Delivery, heldBack: boolean): Look {
    this.#relayed += done.length;
    for (const { seq, error, retryAfter } of failed) {
      const then = retryAfter === undefined ? 'it is set aside until it is retried' : `next attempt in ${retryAfter} ms`;
      this.#logger.warn(`Row ${seq} of ${this.parts.table.name} cannot be relayed, ${then}: ${error}`);
    }
    return { taken: done.length + failed.length + left.length, heldBack, unreachable };
  }

  /** Says once that it cannot go on, and once that it can again. */
  #tell(failure: unknown): void {
    if (failure === undefined) {
      if (this.#problem !== undefined) this.#logger.log('The outbox is relayed again.');
      if (this.#problem !== undefined) this.#pause = QUICKEST;
      this.#problem = undefined;
      return;
    }
    if (this.#isStopping) return;
    if (this.#problem === undefined) {
      this.#pause = SHORTEST_PAUSE;
      this.#logger.warn(`The outbox cannot be relayed at the moment; its rows wait. ${String(failure)}`);
    }
    this.#problem = String(failure);
  }
}
