import { partitionConflict } from '../message/partition-conflict.js';
import { OnceAMinute } from '../timing/pauses.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { hasCode, showFailure } from '../message/failure.js';
import type { Reach } from '../redis/connection/redis-connection.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import type { QueueToOpen } from '../store/layout.js';
import type { StoreLimits } from '../store/message-store.js';
import { groupKeys, nativeKeys } from '../store/native/native-keys.js';
import { NativeMessageStore } from '../store/native/native-store.js';
import type { Offer, OfferReceipt } from '../store/producer-store.js';
import { QueueCheck } from '../store/queue-check.js';
import type { CancelTimer } from '../timing/clock.js';
import type { Repartitioned } from '../store/router.js';
import { MissingReport, PatientReading } from './patient-reading.js';
import {
  formatPartitioning,
  isNewer,
  type Partitioning,
  parsePartitioning,
  UNPARTITIONED,
  widthOf,
  withCount,
} from './partitioning.js';
import type { Partitions } from './partitions.js';
import { type Agreed, PartitioningCopies } from './partitioning-copies.js';

/** Announces that the partitioning has changed. Published by `agree.lua` on the channel of partition 0. */
const CHANGED = 'partitions';

/**
 * The partitions of a queue in Redis. Each has a copy of the queue's partitioning. Partition 0's copy is the first to change, and the
 * newest copy applies. A process adopts a partitioning once it has updated all partitions, so none accepts calls that use an older one.
 */
export class NativePartitions implements Partitions {
  #partitioning: Partitioning;
  /** The known partitioning in the form that the stores send. */
  readonly #known: { text: string };
  #stores: readonly NativeMessageStore[];
  /** True if calls may use the partitioning. A queue configured with one partition need not ask: refused calls reveal other partitions. */
  #isKnown: boolean;
  #agreeing: Promise<void> | undefined;
  #adopting: Promise<void> | undefined;
  #isDifferenceReported = false;
  readonly #copies: PartitioningCopies;
  /** The limits of all stores, which depend on the number of partitions. */
  readonly #limits: StoreLimits;
  readonly #listeners = new Set<() => void>();
  readonly #missing: MissingReport;

  constructor(
    private readonly connections: RedisConnections,
    private readonly options: Omit<QueueToOpen, 'blockTimeout'>,
  ) {
    const { partitions, limitsOf, queue } = options;
    const { clock, events } = connections;
    this.#copies = new PartitioningCopies(connections, options);
    this.#isKnown = partitions === UNPARTITIONED.count;
    this.#partitioning = { ...UNPARTITIONED, count: partitions };
    this.#known = { text: formatPartitioning(this.#partitioning) };
    this.#limits = limitsOf(partitions);
    this.#stores = this.#open(partitions, []);
    this.#missing = new MissingReport(new OnceAMinute(clock), (missing) =>
      events.emit('partitions-missing', { queue, missing, partitions: this.#stores.length }),
    );
  }

  get partitioning(): Partitioning {
    return this.#partitioning;
  }

  get stores(): readonly NativeMessageStore[] {
    return this.#stores;
  }

  get isKnown(): boolean {
    return this.#isKnown;
  }

  reachOf(partition: number): Reach {
    // There may be fewer partitions than the caller knows of.
    return this.#stores[partition]?.reach ?? 'lost';
  }

  read(): PatientReading {
    return new PatientReading(this.#stores, {
      clock: this.connections.clock,
      reachOf: (partition) => this.reachOf(partition),
      note: (reached) => this.#missing.note(reached),
    });
  }

  agree(): Promise<void> {
    return (this.#agreeing ??= this.#agree().finally(() => (this.#agreeing = undefined)));
  }

  async refresh(): Promise<void> {
    if (this.reachOf(0) === 'lost' && (await this.#goByOthers())) return;
    await this.#adopt(await this.#copies.read(0));
  }

  async reconcile(partition: number, refusal: Repartitioned): Promise<void> {
    // Never undefined: a script compares the caller's partitioning only with a valid one.
    const partitioning = parsePartitioning(refusal.partitioning)!;
    await this.#adopt(partitioning);
    if (!isNewer(this.#partitioning, partitioning)) return;
    // The process that made the newer partitioning has not updated this partition.
    const updated = await this.#copies.update(partition, await this.#copies.agree(this.#partitioning));
    await this.#adopt(updated.partitioning);
  }

  offerIfPresent(partition: number, offers: readonly Offer[]): Promise<(OfferReceipt | undefined)[]> {
    return this.#stores[partition]!.offerIfPresent(offers);
  }

  watch(checkInterval: number): () => void {
    const { clock } = this.connections;
    let cancelTimer: CancelTimer | undefined;
    let isStopped = false;
    const look = () => this.refresh().catch(this.#report);
    const lookLater = () => {
      cancelTimer = clock.schedule(() => void look().then(() => isStopped || lookLater()), checkInterval);
    };
    // Also looks when the subscription becomes active, because changes may have been announced before.
    const unlisten = this.connections.announcements.listen(this.#copies.channel, {
      onMessage: (text) => void (text === CHANGED && look()),
      onListening: () => void look(),
    });
    lookLater();
    return () => {
      isStopped = true;
      unlisten();
      cancelTimer?.();
    };
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Agrees with partition 0, where changes are made. While it does not answer, adopts the newest copy in the other partitions. */
  async learn(): Promise<void> {
    try {
      if (this.reachOf(0) !== 'lost') return await this.agree();
    } catch (error) {
      if (!hasCode(error, 'NOT_CONNECTED', 'OUTCOME_UNKNOWN')) throw error;
    }
    if (!(await this.#goByOthers())) return this.agree();
    new QueueCheck(() => this.agree()).catchUp(this.connections.servers, this.#report);
  }

  /** Adopts the newest partitioning of the reachable partitions. Returns false if there is none. */
  async #goByOthers(): Promise<boolean> {
    const newest = await this.#copies.newest(Math.max(2, this.#stores.length));
    if (!newest) return false;
    this.#check(newest);
    this.#take(newest);
    this.#reportDifference();
    return true;
  }

  async #agree(): Promise<void> {
    const { partitions: configured } = this.options;
    await this.#use(this.#isKnown ? this.#partitioning : UNPARTITIONED);
    while (this.#partitioning.count !== configured) {
      const isSmaller = configured < this.#partitioning.count;
      if (isSmaller && !(await this.#copies.areEmpty(this.#partitioning))) break;
      if (await this.#replace(withCount(this.#partitioning, configured))) break;
    }
    const rest = await this.#copies.withoutUnneeded(this.#partitioning);
    if (rest) await this.#replace(rest);
    this.#reportDifference();
  }

  /** @returns false if another process has replaced the partitioning in the meantime */
  async #replace(next: Partitioning): Promise<boolean> {
    const former = this.#partitioning;
    const agreed = await this.#copies.agree(former, next);
    await this.#useAgreed(agreed);
    const isDone = formatPartitioning(agreed.partitioning) === formatPartitioning(next);
    if (isDone && former.count !== next.count) {
      const { queue } = this.options;
      this.connections.events.emit('partitions-changed', { queue, from: former.count, to: next.count });
    }
    return isDone;
  }

  /** Adopts a partitioning if it is newer than the one known here. */
  async #adopt(found: Partitioning): Promise<void> {
    while (!this.#isKnown || isNewer(found, this.#partitioning)) {
      await (this.#adopting ??= this.#use(found).finally(() => (this.#adopting = undefined)));
      this.#reportDifference();
    }
  }

  async #use(known: Partitioning): Promise<void> {
    await this.#useAgreed(await this.#copies.agree(known));
  }

  /** Updates all partitions, then adopts the partitioning. A partition that cannot be updated now rejects calls until it is. */
  async #useAgreed(first: Agreed): Promise<void> {
    for (let agreed = first; ;) {
      this.#check(agreed.partitioning);
      const newest = await this.#copies.updateOthers(agreed);
      if (!isNewer(newest, agreed.partitioning)) return this.#take(agreed.partitioning);
      agreed = await this.#copies.agree(newest);
    }
  }

  #take(agreed: Partitioning): void {
    const text = formatPartitioning(agreed);
    const isSame = text === this.#known.text;
    if (this.#isKnown && (isSame || isNewer(this.#partitioning, agreed))) return;
    this.#isKnown = true;
    if (isSame) return;
    this.#partitioning = agreed;
    this.#known.text = text;
    Object.assign(this.#limits, this.options.limitsOf(agreed.count));
    this.#stores = this.#open(widthOf(agreed), this.#stores);
    for (const listener of this.#listeners) listener();
  }

  #open(width: number, open: readonly NativeMessageStore[]): NativeMessageStore[] {
    const { prefix, queue, groups } = this.options;
    const others = groups ? groupKeys(prefix, queue) : undefined;
    const settings = { limits: this.#limits, partitioning: this.#known, others };
    return Array.from(
      { length: width },
      (_, i) =>
        open[i] ?? new NativeMessageStore(this.connections, { keys: nativeKeys(prefix, queue, i), ...settings }),
    );
  }

  /** Throws `INVALID_OPTION` if the queue cannot be served here. */
  #check(found: Partitioning): void {
    const { queue, limitsOf, groups } = this.options;
    const width = widthOf(found);
    const conflict = partitionConflict(limitsOf(1), { partitions: width, hasGroups: Boolean(groups) });
    if (!conflict) return;
    const problem = {
      'global concurrency': 'a globalConcurrency, which needs partitions: 1',
      'rate with groups': 'a rate, which needs partitions: 1 if messages have groups',
      'low rate': `a rate, which needs a max of at least ${width}`,
    }[conflict];
    throw new DelayQueueError(
      'INVALID_OPTION',
      `Queue '${queue}' has partitions: ${found.count}, but this process is configured with ${problem}. ` +
        'Configure all processes alike, and reset limits that were set while the queue runs',
    );
  }

  readonly #report = (error: unknown): void => {
    // Other failures affect all calls to Redis, and the scheduler of partition 0 reports them.
    if (hasCode(error, 'INVALID_OPTION'))
      this.connections.events.emit('server-unsupported', { reason: showFailure(error) });
  };

  #reportDifference(): void {
    const { queue, partitions: configured } = this.options;
    const { count } = this.#partitioning;
    if (count <= configured || this.#isDifferenceReported) return;
    this.#isDifferenceReported = true;
    this.connections.events.note('partitions-adopted', { queue, configured, partitions: count });
  }
}
