import type { Reach } from '../redis/connection/redis-connection.js';
import type { MessageStore } from '../store/message-store.js';
import { type Partitioning, UNPARTITIONED } from './partitioning.js';
import type { Partitions } from './partitions.js';
import { PatientReading } from './patient-reading.js';

const DONE = Promise.resolve();

/** Partitions whose number cannot change, because only this process knows them. */
export class FixedPartitions implements Partitions {
  readonly partitioning: Partitioning;
  readonly isKnown = true;

  constructor(readonly stores: readonly MessageStore[]) {
    this.partitioning = { ...UNPARTITIONED, count: stores.length };
  }

  reachOf(): Reach {
    return 'ready';
  }

  read(): PatientReading {
    return new PatientReading(this.stores);
  }

  learn(): Promise<void> {
    return DONE;
  }

  agree(): Promise<void> {
    return DONE;
  }

  refresh(): Promise<void> {
    return DONE;
  }

  reconcile(): Promise<void> {
    return DONE;
  }

  offerIfPresent(): Promise<never> {
    return Promise.reject(new Error('There are no former places.'));
  }

  watch(): () => void {
    return () => undefined;
  }

  onChange(): () => void {
    return () => undefined;
  }
}
