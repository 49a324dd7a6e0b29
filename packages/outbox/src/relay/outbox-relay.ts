import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Logger } from '@nestjs/common';
import type { DelayQueueProducer } from 'nestjs-delay-queue';
import type { OutboxDatabase } from '../database/outbox-database.js';
import type { OutboxTable, TakenRows } from '../table/outbox-table.js';
import { inTransaction } from '../table/steps.js';
import { ChannelListener } from './channel-listener.js';
import { type Delivery, deliver } from './deliver.js';
import type { RelayedCalls, RelayTarget } from './relay-target.js';
import { Refusals } from './refusals.js';
import { RowWarnings } from './row-warnings.js';
import type { TargetCheck } from './target-check.js';
import { WakeUp } from './wake-up.js';

/** Minimum pause between two looks at a table without notifications, ms. */
const QUICKEST = 10;
/** The pauses after a failure of the database or of Redis, ms. */
const MIN_PAUSE = 100;
const MAX_PAUSE = 5000;
/** After a look at the whole table, the next ones begin where it has found rows, for this multiple of the time that it took. */
const LOOKS_BEHIND = 10;
/** The part of a batch's lease in which the calls for its rows take effect, or never. */
const IN_TIME = 0.75;
/** How often it looks for rows that only later versions know, ms. */
const UNKNOWN_EVERY = 60_000;

const UNDELIVERED =
  'Notifications of PostgreSQL do not arrive, as behind PgBouncer in transaction mode: the relay looks at the table from time to time ' +
  'instead. Give the database of the outbox `listen`, a pool that goes around it.';
/** How long the database may be silent before that is reported, ms. */
const MAX_SILENCE = 30_000;
const SILENT = new Error(`The database has not answered for ${MAX_SILENCE} ms`);
/** How long a stop waits for work in progress, ms. */
const STOP_TIMEOUT = 10_000;

export interface RelayParts {
  readonly database: OutboxDatabase;
  readonly table: OutboxTable;
  readonly producer: DelayQueueProducer;
  /** The producer's part for relays; undefined if it is not one of nestjs-delay-queue. */
  readonly target: RelayTarget | undefined;
  readonly targetCheck: TargetCheck;
  /** Number of rows taken at once. */
  readonly batchSize: number;
  /** Maximum pause between two looks, ms. */
  readonly pollInterval: number;
  /** How long rows belong to this relay alone, ms. */
  readonly lease: number;
}

/** The result of a look at the table. */
interface Look {
  readonly taken: number;
  /** True if there are rows that it could take now. */
  readonly more: boolean;
  /** True if there are rows that wait for others, which another relay has. */
  readonly isHeldBack: boolean;
  readonly unreachable: unknown;
}

const NOTHING: Look = { taken: 0, more: false, isHeldBack: false, unreachable: undefined };
const NOTHING_DONE: Delivery = { done: [], failed: [], refusing: new Set(), left: [], unreachable: undefined };

/** The state of a relay. */
export interface RelayStatus {
  /** True if it runs in this process. */
  readonly running: boolean;
  /** True if commits wake it. Otherwise it polls. */
  readonly listening: boolean;
  /** Number of rows relayed since it started. */
  readonly relayed: number;
  /** Why it cannot relay at the moment: the error of the database, or of Redis. */
  readonly problem: string | undefined;
}

/** Hands committed rows to the delay queue, and removes them. Any number of relays, in any number of processes, share a table. */
export class OutboxRelay {
  readonly #logger = new Logger('DelayQueueOutbox');
  readonly #wakeUp = new WakeUp();
  #listener: ChannelListener | undefined;
  #loop: Promise<void> | undefined;
  #isStopping = false;
  #relayed = 0;
  #problem: string | undefined;
  #pause = QUICKEST;
  readonly #refusals = new Refusals();
  readonly #warnings: RowWarnings;
  /** The last row that was looked at. The next look begins behind it. */
  #behind = 0;
  /** When to look at the whole table again. */
  #wholeAt = 0;
  #unknownAt = 0;

  constructor(private readonly parts: RelayParts) {
    this.#warnings = new RowWarnings(this.#logger, parts.table.name);
  }

  /** The instance of the module that it relays to; undefined: the one without a name. */
  get instance(): string | undefined {
    return this.parts.producer.instance;
  }

  get target(): RelayTarget | undefined {
    return this.parts.target;
  }

  get status(): RelayStatus {
    return {
      running: this.#loop !== undefined && !this.#isStopping,
      listening: this.#listener?.isListening ?? false,
      relayed: this.#relayed,
      problem: this.#problem,
    };
  }

  start(): void {
    const { database, table } = this.parts;
    if (database.listen) {
      this.#listener = new ChannelListener({
        listen: database.listen.bind(database),
        channel: table.name,
        notify: () => inTransaction(database, () => table.notify()),
        onNotification: () => this.#wakeUp.wake(),
        onUndelivered: () => this.#logger.warn(UNDELIVERED),
      });
    }
    this.#loop = this.#run();
  }

  /** Finishes the work in progress. The rest is left for other relays, and for the next start. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wakeUp.wake();
    // A database that no longer answers must not delay the stop. The lease of the rows ends by itself.
    await Promise.race([this.#loop, sleep(STOP_TIMEOUT, undefined, { ref: false })]);
    this.#warnings.sum(performance.now(), true);
    await this.#listener?.close();
  }

  /** Notes that this process has written a row, and will commit it soon. */
  expect(): void {
    if (this.#listener?.isListening || this.#problem !== undefined) return;
    this.#pause = QUICKEST;
    this.#wakeUp.wake();
  }

  /**
   * Relays one batch. It is taken in a transaction of its own, and removed in another. In between, its rows have a lease.
   *
   * The lease outlives the process, the connection and the database. So nobody else carries out an operation, or a later one for the same
   * message, while a call of this relay may still be on its way. A lock would end with the connection. A relay that pauses for longer than
   * its lease is refused by Redis and by the table when it continues.
   */
  async look(): Promise<Look> {
    const { database, table, lease } = this.parts;
    const asked = performance.now();
    const { rows, behindOthers, more, until } = await this.#take(asked);
    const look = { taken: rows.length, more, isHeldBack: behindOthers.length > 0 };
    if (rows.length === 0) return { ...look, unreachable: undefined };
    // The rest of the lease is for calls that wait for an answer.
    const isTooLate = performance.now() > asked + lease / 3;
    const notAfter = asked + lease * IN_TIME;
    const delivery = isTooLate
      ? { ...NOTHING_DONE, left: rows }
      : await deliver({ producer: this.#callsBefore(notAfter), target: this.parts.target }, rows, notAfter);
    await inTransaction(database, function* () {
      yield* table.remove(delivery.done, until);
      yield* table.release(delivery.left, until);
      for (const failed of delivery.failed) yield* table.fail(failed, until);
    });
    this.#count(delivery);
    return { ...look, unreachable: delivery.unreachable };
  }

  /**
   * Takes the rows of a batch. Where rows are removed from a long table, the database passes over their remains as long as any transaction
   * may still see them, so most looks begin behind those.
   */
  async #take(asked: number): Promise<TakenRows> {
    const { database, table, batchSize: limit, lease } = this.parts;
    const isWhole = this.#behind === 0 || asked >= this.#wholeAt;
    const behind = isWhole ? 0 : this.#behind;
    const request = { limit, behind, withoutOffersTo: this.#refusals.current(asked), lease };
    const taken = await inTransaction(database, function* () {
      if (table.hasMessageIndex === undefined) yield* table.check();
      return yield* table.take(request);
    });
    const now = performance.now();
    if (isWhole) this.#wholeAt = now + (now - asked) * LOOKS_BEHIND;
    const isFull = taken.rows.length + taken.behindOthers.length === limit;
    this.#behind = isFull ? taken.first! - 1 : 0;
    return isWhole || isFull ? taken : { ...taken, more: true };
  }

  #callsBefore(notAfter: number): RelayedCalls {
    const { producer, target } = this.parts;
    return target ? target.before(notAfter) : producer;
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      let look = NOTHING;
      let failure: unknown;
      const silence = setTimeout(() => this.#report(SILENT), MAX_SILENCE).unref();
      try {
        await this.parts.targetCheck.run();
        look = await this.look();
        failure = look.unreachable;
      } catch (error) {
        failure = error;
      } finally {
        clearTimeout(silence);
      }
      this.#report(failure);
      await this.#reportUnknown(look);
      if (failure === undefined) await this.#waitAfter(look);
      else await this.#waitOut();
    }
  }

  async #waitAfter({ taken, more, isHeldBack }: Look): Promise<void> {
    const { pollInterval } = this.parts;
    if (more) return;
    if (taken > 0) this.#pause = QUICKEST;
    const isNotified = this.#listener?.isListening && !isHeldBack;
    const started = performance.now();
    const retry = this.#refusals.nextIn(started) ?? Infinity;
    await this.#wakeUp.wait(Math.min(retry, isNotified ? pollInterval : this.#pause));
    this.#pause = Math.min(this.#pause * 2, pollInterval);
    if (this.#listener?.isListening || this.#isStopping) return;
    // Writers in this process wake the relay before they commit, perhaps often.
    const rest = QUICKEST - (performance.now() - started);
    if (rest > 0) await sleep(rest);
  }

  /** Notifications continue while Redis is down, so they do not end this pause. */
  async #waitOut(): Promise<void> {
    const end = performance.now() + this.#pause;
    for (let rest = this.#pause; rest > 0 && !this.#isStopping; rest = end - performance.now())
      await this.#wakeUp.wait(rest);
    this.#pause = Math.min(this.#pause * 2, MAX_PAUSE);
  }

  #count(delivery: Delivery): void {
    const now = performance.now();
    this.#relayed += delivery.done.length;
    this.#refusals.note(delivery, now);
    for (const failed of delivery.failed) this.#warnings.warn(failed, now);
    this.#warnings.sum(now);
  }

  /** Runs when there is nothing else to do. */
  async #reportUnknown({ taken }: Look): Promise<void> {
    const { database, table } = this.parts;
    const now = performance.now();
    if (taken > 0 || now < this.#unknownAt || this.#problem !== undefined) return;
    this.#unknownAt = now + UNKNOWN_EVERY;
    const unknown = await inTransaction(database, () => table.unknown()).catch(() => new Map<string, number>());
    for (const [operation, count] of unknown) {
      const what = `${count} rows of ${table.name} ask for '${operation}', which this version does not know`;
      this.#logger.warn(`${what}; they wait for the relay of a later one.`);
    }
  }

  /** Reports once that it cannot continue, and once that it can again. */
  #report(failure: unknown): void {
    if (failure === undefined) {
      if (this.#problem === undefined) return;
      this.#logger.log('The outbox is relayed again.');
      this.#pause = QUICKEST;
      this.#problem = undefined;
      return;
    }
    if (this.#isStopping) return;
    const problem = failure instanceof Error ? String(failure) : inspect(failure);
    if (this.#problem === undefined) {
      this.#pause = MIN_PAUSE;
      this.#logger.warn(`The outbox cannot be relayed at the moment; its rows wait. ${problem}`);
    }
    this.#problem = problem;
  }
}
