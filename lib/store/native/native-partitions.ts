import type { Events } from '../../events/events.js';
import { DelayQueueError } from '../../message/delay-queue-errors.js';
import { OnceAMinute } from '../../events/once-a-minute.js';
import { hasCode, showFailure } from '../../message/failure.js';
import type { Clock } from '../../timing/clock.js';
import type { Offer, OfferReceipt } from '../message-intake.js';
import type { StoreLimits } from '../message-store.js';
import type { Reach } from '../../redis/reach.js';
import { MissingReport } from '../partitioned/missing-report.js';
import {
  FIRST_RECORD,
  formatRecord,
  isNewer,
  type PartitionRecord,
  widthOf,
  withCount,
} from '../partitioned/partition-record.js';
import type { Partitions, Repartitioned } from '../partitioned/partitions.js';
import { Reading } from '../partitioned/reading.js';
import type { RedisConnections } from '../../redis/redis-connections.js';
import { nativeKeys } from './native-keys.js';
import { NativeMessageStore } from './native-store.js';
import { PartitionCheck } from './partition-check.js';
import { type Agreed, PartitionRecords } from './partition-records.js';
import { PartitionWatch } from './partition-watch.js';

export interface NativePartitionsOptions {
  readonly prefix: string;
  readonly queue: string;
  /** How many partitions this process is configured with. */
  readonly configured: number;
  /** The limits of each partition, if there are so many. */
  readonly limitsOf: (count: number) => StoreLimits;
  readonly clock: Clock;
  readonly events: Events;
}

/**
 * The partitions of a queue in Redis. Each has a record of how many there are; that of partition 0 is the first to change, and the
 * newest one counts. A process goes by a record once it has told all partitions, so that none of them takes calls by an older one.
 */
export class NativePartitions implements Partitions {
  #record: PartitionRecord;
  #text: string;
  #stores: readonly NativeMessageStore[];
  /** Whether calls may go by the record. A queue that is configured to have one partition need not ask: it is told if it has others. */
  #isKnown: boolean;
  #agreeing: Promise<void> | undefined;
  #adopting: Promise<void> | undefined;
  #isDifferenceTold = false;
  readonly #options: NativePartitionsOptions;
  readonly #records: PartitionRecords;
  /** Those of all stores; they follow the number of partitions. */
  readonly #limits: StoreLimits;
  readonly #listeners = new Set<() => void>();
  readonly #missing: MissingReport;

  constructor(
    private readonly connections: RedisConnections,
    options: NativePartitionsOptions,
  ) {
    const { configured, limitsOf, queue, clock, events } = options;
    this.#options = options;
    this.#records = new PartitionRecords(connections, options);
    this.#isKnown = configured === FIRST_RECORD.count;
    this.#record = { ...FIRST_RECORD, count: configured };
    this.#text = formatRecord(this.#record);
    this.#limits = { ...limitsOf(configured) };
    this.#stores = this.#open(configured, []);
    this.#missing = new MissingReport(new OnceAMinute(clock), (missing) =>
      events.emit('partitions-missing', { queue, missing, partitions: this.#stores.length }),
    );
  }

  get record(): PartitionRecord {
    return this.#record;
  }

  get stores(): readonly NativeMessageStore[] {
    return this.#stores;
  }

  ready(): Promise<void> | undefined {
    return this.#isKnown ? undefined : this.#learn();
  }

  reachOf(partition: number): Reach {
    // There may be fewer than the caller knows.
    return this.#stores[partition]?.reach ?? 'lost';
  }

  read(): Reading {
    const reachOf = (partition: number) => this.reachOf(partition);
    return new Reading(this.#stores, { clock: this.#options.clock, reachOf });
  }

  tellMissing(missing: readonly number[]): void {
    this.#missing.note(missing);
  }

  agree(): Promise<void> {
    return (this.#agreeing ??= this.#agree().finally(() => (this.#agreeing = undefined)));
  }

  async refresh(): Promise<void> {
    if (this.reachOf(0) === 'lost' && (await this.#goByOthers())) return;
    await this.#adopt(await this.#records.read(0));
  }

  async reconcile(partition: number, { record }: Repartitioned): Promise<void> {
    await this.#adopt(record);
    if (!isNewer(this.#record, record)) return;
    // Whoever made this record has not told this partition.
    const told = await this.#records.tell(partition, await this.#records.agree({ known: this.#record }));
    await this.#adopt(told.record);
  }

  offerIfPresent(partition: number, offers: readonly Offer[]): Promise<(OfferReceipt | undefined)[]> {
    return this.#stores[partition]!.offerIfPresent(offers);
  }

  watch(checkInterval: number): () => void {
    const { clock, events } = this.#options;
    const { announcements } = this.connections;
    const look = () =>
      this.refresh().catch((error: unknown) => {
        // Other failures are those of all calls to Redis, and the scheduler of partition 0 tells of them.
        if (hasCode(error, 'INVALID_OPTION')) events.emit('server-unfit', { reason: showFailure(error) });
      });
    const channel = this.#records.channel;
    const watch = new PartitionWatch({ announcements, channel, clock, checkInterval, look });
    return () => watch.stop();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Agrees; or goes by what the other partitions know while partition 0, where changes are made, does not answer. */
  async #learn(): Promise<void> {
    try {
      if (this.reachOf(0) !== 'lost') return await this.agree();
    } catch (error) {
      if (!hasCode(error, 'NOT_CONNECTED', 'OUTCOME_UNKNOWN')) throw error;
    }
    if (!(await this.#goByOthers())) return this.agree();
    new PartitionCheck([this], this.#options.clock).catchUp(this.connections.commands, this.#options.events);
  }

  /** Goes by the newest record of the partitions that can be reached. @returns whether there is one */
  async #goByOthers(): Promise<boolean> {
    const known = await this.#records.newest(Math.max(2, this.#stores.length));
    if (!known) return false;
    this.#check(known);
    this.#take(known);
    this.#tellDifference();
    return true;
  }

  async #agree(): Promise<void> {
    const { configured } = this.#options;
    await this.#use(this.#isKnown ? this.#record : FIRST_RECORD);
    while (this.#record.count !== configured) {
      const isSmaller = configured < this.#record.count;
      if (isSmaller && !(await this.#records.areEmpty(this.#record))) break;
      if (await this.#replace(withCount(this.#record, configured))) break;
    }
    const rest = await this.#records.withoutUnneeded(this.#record);
    if (rest) await this.#replace(rest);
    this.#tellDifference();
  }

  /** @returns whether nobody else has made another record */
  async #replace(next: PartitionRecord): Promise<boolean> {
    const { record: former } = this;
    const agreed = await this.#records.agree({ known: former, next });
    await this.#useAgreed(agreed);
    const isDone = formatRecord(agreed.record) === formatRecord(next);
    if (isDone && former.count !== next.count) {
      const { queue, events } = this.#options;
      events.emit('partitions-changed', { queue, from: former.count, to: next.count });
    }
    return isDone;
  }

  /** Goes by a record if it is newer than the one that is known here. */
  async #adopt(record: PartitionRecord): Promise<void> {
    while (!this.#isKnown || isNewer(record, this.#record)) {
      await (this.#adopting ??= this.#use(record).finally(() => (this.#adopting = undefined)));
      this.#tellDifference();
    }
  }

  async #use(known: PartitionRecord): Promise<void> {
    await this.#useAgreed(await this.#records.agree({ known }));
  }

  /** Tells all partitions, then goes by the record. One that cannot be told now refuses calls until somebody has told it. */
  async #useAgreed(first: Agreed): Promise<void> {
    for (let agreed = first; ;) {
      this.#check(agreed.record);
      const newest = await this.#records.tellOthers(agreed);
      if (!isNewer(newest, agreed.record)) return this.#take(agreed.record);
      agreed = await this.#records.agree({ known: newest });
    }
  }

  #take(record: PartitionRecord): void {
    const isSame = formatRecord(record) === this.#text;
    if (this.#isKnown && (isSame || isNewer(this.#record, record))) return;
    this.#isKnown = true;
    if (isSame) return;
    this.#record = record;
    this.#text = formatRecord(record);
    Object.assign(this.#limits, this.#options.limitsOf(record.count));
    this.#stores = this.#open(widthOf(record), this.#stores);
    for (const listener of this.#listeners) listener();
  }

  #open(width: number, open: readonly NativeMessageStore[]): NativeMessageStore[] {
    const { prefix, queue } = this.#options;
    return Array.from({ length: width }, (_, partition) => {
      const keys = nativeKeys(prefix, queue, partition);
      return (
        open[partition] ??
        new NativeMessageStore(this.connections, { keys, limits: this.#limits, record: () => this.#text })
      );
    });
  }

  /** @throws DelayQueueError `INVALID_OPTION` */
  #check(record: PartitionRecord): void {
    const { queue, limitsOf } = this.#options;
    if (widthOf(record) === 1 || !limitsOf(1).rate) return;
    throw new DelayQueueError(
      'INVALID_OPTION',
      `Queue '${queue}' has partitions: ${record.count}, but this process is configured with a rate, which needs partitions: 1. ` +
        'Configure all processes alike',
    );
  }

  #tellDifference(): void {
    const { queue, configured, events } = this.#options;
    const { count } = this.#record;
    if (count <= configured || this.#isDifferenceTold) return;
    this.#isDifferenceTold = true;
    events.note('partitions-adopted', { queue, configured, partitions: count });
  }
}
