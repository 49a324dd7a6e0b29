import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayQueueError } from 'nestjs-delay-queue';
import type { OutboxDatabase } from '../database/outbox-database.js';
import type { OutboxTable, StoredTarget } from '../table/outbox-table.js';
import { inTransaction } from '../table/steps.js';
import type { RelayTarget } from './relay-target.js';

/** Hosts and proxies may have many addresses for one server. The last ones are kept. */
const MAX_ADDRESSES = 20;
/** How long the first write waits for the verdict, ms. */
const MAX_WAIT = 1000;

/**
 * Checks that a table has one target: a database of Redis and a prefix, with an id in Redis that the table knows as well. If two
 * applications used one table, rows would go to either one's Redis.
 *
 * If Redis has lost its data and the id, it gets the id back from the table, provided that it is reached by an address that the table
 * knows. Another Redis without an id has another address.
 */
export class TargetCheck {
  #isDone = false;
  #hasTried = false;
  /** The last verdict, if the table belongs to another target. */
  #refusal: DelayQueueError | undefined;

  constructor(
    private readonly database: OutboxDatabase,
    private readonly table: OutboxTable,
    /** Undefined if the target is unknown. */
    private readonly target: RelayTarget | undefined,
  ) {}

  /**
   * Refuses to write into the table of another target. While the target is unknown, rows are written, because writing needs only the
   * database.
   * @throws DelayQueueError `INVALID_OPTION`
   */
  async beforeWrite(): Promise<void> {
    if (this.#isDone || !this.target) return;
    const tried = this.run().catch(() => undefined);
    // A transaction is open, and Redis must not delay it.
    if (!this.#hasTried) await Promise.race([tried, sleep(MAX_WAIT, undefined, { ref: false })]);
    this.#hasTried = true;
    if (this.#refusal) throw this.#refusal;
  }

  /** @throws DelayQueueError `INVALID_OPTION` if the table belongs to another target; errors of Redis or the database */
  async run(): Promise<void> {
    if (this.#isDone || !this.target) return;
    const { database, table, target } = this;
    const addresses = await target.addresses();
    let id = await target.id();
    let stored = await inTransaction(database, () => table.target());
    if (!stored) {
      id = (await target.id(randomUUID()))!;
      const made = { id, addresses };
      stored = await inTransaction(database, function* () {
        yield* table.noteTarget(made);
        return yield* table.target();
      });
    }
    const { id: wanted, addresses: known } = stored!;
    if (id === undefined && addresses.some((address) => known.includes(address))) id = await target.id(wanted);
    this.#refusal = id === wanted ? undefined : this.#elsewhere(stored!, addresses);
    if (this.#refusal) throw this.#refusal;
    await this.#learn(stored!, addresses);
    this.#isDone = true;
  }

  async #learn({ id, addresses: known }: StoredTarget, addresses: readonly string[]): Promise<void> {
    const added = addresses.filter((address) => !known.includes(address));
    if (added.length === 0) return;
    const target = { id, addresses: [...known, ...added].slice(-MAX_ADDRESSES) };
    await inTransaction(this.database, () => this.table.changeTarget(target));
  }

  #elsewhere({ addresses: known }: StoredTarget, addresses: readonly string[]): DelayQueueError {
    const { name } = this.table;
    return new DelayQueueError(
      'INVALID_OPTION',
      `OutboxModule: table: the rows of ${name} go to a different Redis, database or prefix (${known.join(', ')}) from the one that this process offers to ` +
        `(${addresses.join(', ')}): give it another table. If Redis has moved without its data: DELETE FROM ${name} WHERE seq = -2`,
    );
  }
}
