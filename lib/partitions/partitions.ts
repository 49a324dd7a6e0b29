import type { MessageStore } from '../store/message-store.js';
import type { Offer, OfferReceipt } from '../store/producer-store.js';
import type { Repartitioned } from '../store/router.js';
import type { Reach } from '../redis/connection/redis-connection.js';
import type { Partitioning } from './partitioning.js';
import type { PatientReading } from './patient-reading.js';

/** The partitions of a queue, as this process knows them. Their number may change while it runs. */
export interface Partitions {
  /** By which calls about single messages find their partition. Another object after each change. */
  readonly partitioning: Partitioning;
  /** The store of each partition that may hold messages. Another list after each change. */
  readonly stores: readonly MessageStore[];
  /** What is known of the connection to a partition; nothing is sent. */
  reachOf(partition: number): Reach;
  /** Begins a read of all partitions, as far as they answer. */
  read(): PatientReading;
  /** True if the partitioning is known, so that {@link ready} has nothing to wait for. */
  readonly isReady: boolean;
  /** Must be awaited before the first call about a single message; undefined: the partitioning is known. */
  ready(): Promise<void> | undefined;
  /**
   * Makes the number of partitions the one that this process is configured with, or adopts what there is.
   *
   * @throws DelayQueueError `INVALID_OPTION` if the queue cannot be served here; others as any call
   */
  agree(): Promise<void>;
  /** Adopts the newest partitioning that partition 0 knows, or, while that is lost, the others. */
  refresh(): Promise<void>;
  /** Adopts the partitioning of a partition that has refused a call, or tells it the newer one. */
  reconcile(partition: number, refusal: Repartitioned): Promise<void>;
  /** As {@link MessageStore.offer} of a partition, but creates nothing: undefined for ids that are not in use there. */
  offerIfPresent(partition: number, offers: readonly Offer[]): Promise<(OfferReceipt | undefined)[]>;
  /** Notices changes at once or after `checkInterval` ms, until the returned function is called. */
  watch(checkInterval: number): () => void;
  /** Calls the listener after each change, until the returned function is called. */
  onChange(listener: () => void): () => void;
}
