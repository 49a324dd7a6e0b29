import type { MessageStore } from '../store/message-store.js';
import type { Offer, OfferReceipt } from '../store/producer-store.js';
import type { Repartitioned } from '../store/router.js';
import type { Reach } from '../redis/connection/redis-connection.js';
import type { Partitioning } from './partitioning.js';
import type { PatientReading } from './patient-reading.js';

/** A queue's partitions, as this process knows them. Their number may change at run time. */
export interface Partitions {
  /** Decides the partition for calls about single messages. Replaced by a new object after each change. */
  readonly partitioning: Partitioning;
  /** The store of each partition that may hold messages. A new list after each change. */
  readonly stores: readonly MessageStore[];
  /** Returns the known reach of a partition's connection, without sending anything. */
  reachOf(partition: number): Reach;
  /** Begins a read of all partitions that answer. */
  read(): PatientReading;
  /** True once the partitioning is known. Until then, {@link learn} must precede calls about single messages. */
  readonly isKnown: boolean;
  /** Finds out the partitioning. */
  learn(): Promise<void>;
  /** Changes the number of partitions to the configured one, or adopts the existing one. Throws `INVALID_OPTION` if it cannot. */
  agree(): Promise<void>;
  /** Adopts partition 0's partitioning or, while that partition is lost, the newest of the others. */
  refresh(): Promise<void>;
  /** After a partition has refused a call, adopts its partitioning if that is newer than this process's, and otherwise updates it. */
  reconcile(partition: number, refusal: Repartitioned): Promise<void>;
  /** Like a partition's {@link MessageStore.offer}, but creates nothing. Undefined for each id that is not in use there. */
  offerIfPresent(partition: number, offers: readonly Offer[]): Promise<(OfferReceipt | undefined)[]>;
  /** Watches for changes until the returned function is called: by announcements, and every `checkInterval` ms in case one is lost. */
  watch(checkInterval: number): () => void;
  /** Calls the listener after each change, until the returned function is called. */
  onChange(listener: () => void): () => void;
}
