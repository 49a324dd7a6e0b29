import type { MessageStore } from '../message-store.js';
import type { PartitionRecord } from './partition-record.js';
import type { Partitions } from './partitions.js';

const DONE = Promise.resolve();

/** Partitions whose number cannot change, because only this process knows them, or because there is only one. */
export class FixedPartitions implements Partitions {
  readonly record: PartitionRecord;

  constructor(readonly stores: readonly MessageStore[]) {
    this.record = { epoch: 0, count: stores.length, formers: [] };
  }

  ready(): undefined {
    return undefined;
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
