import type { MessageStore } from '../store/message-store.js';
import type { Offer, OfferReceipt } from '../store/producer-store.js';
import type { Repartitioned } from '../store/router.js';
import type { Reach } from '../redis/connection/redis-connection.js';
import type { Partitioning } from './partitioning.js';
import type { PatientReading } from './patient-reading.js';

/** The partitions of a queue, as this process knows them. Their number may change while it runs. */
export interface Partitions {
  /** Chooses the partition for calls about single messages. Replaced by a new object after each change. */
  readonly partitioning: Partitioning;
  /** The store of each partition that may hold messages. A new list after each change. */
  readonly stores: readonly MessageStore[];
  /** The known reach of a partition's connection; nothing is sent. */
  reachOf(partition: number): Reach;
  /** Begins a read of all partitions that answer. */
  read(): PatientReading;
  /** True if the partitioning is known, so {@link ready} has nothing to wait for. */
  readonly isReady: boolean;
  /** Must be awaited before the first call about a single message; undefined if the partitioning is known. */
  ready(): Promise<void> | undefined;
  /** Changes the number of partitions to the configured one, or adopts the existing one; throws `INVALID_OPTION` if it cannot. */
  agree(): Promise<void>;
  /** Adopts the newest partitioning of partition 0 or, while that partition is lost, of the other partitions. */
  refresh(): Promise<void>;
  /** Adopts the partitioning of a partition that has refused a call, or updates it with the newer one. */
  reconcile(partition: number, refusal: Repartitioned): Promise<void>;
  /** Like {@link MessageStore.offer} of a partition, but creates nothing: undefined for ids that are not in use there. */
  offerIfPresent(partition: number, offers: readonly Offer[]): Promise<(OfferReceipt | undefined)[]>;
  /** Notices changes at once or after `checkInterval` ms, until the returned function is called. */
  watch(checkInterval: number): () => void;
  /** Calls the listener after each change, until the returned function is called. */
  onChange(listener: () => void): () => void;
}
