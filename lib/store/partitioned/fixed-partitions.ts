import type { MessageStore } from '../message-store.js';
import type { Reach } from '../../redis/connection/redis-connection.js';
import { type Partitioning, UNPARTITIONED } from './partitioning.js';
import type { Partitions } from './partitions.js';
import { Reading } from './reading.js';

const DONE = Promise.resolve();

/** Partitions whose number cannot change, because only this process knows them, or because there is only one. */
export class FixedPartitions implements Partitions {
  readonly partitioning: Partitioning;
  readonly isReady = true;

  readonly stores: readonly MessageStore[];

  /**
   * @param check - makes sure that the queue can be served here
   * @param groups - the store of messages that have groups
   */
  constructor(
    partitions: readonly MessageStore[],
    private readonly check: () => Promise<void> = () => DONE,
    readonly groups?: MessageStore,
  ) {
    this.stores = groups ? [...partitions, groups] : partitions;
    this.partitioning = { ...UNPARTITIONED, count: partitions.length };
  }

  reachOf(): Reach {
    return 'ready';
  }

  read(): Reading {
    return new Reading(this.stores);
  }

  ready(): undefined {
    return undefined;
  }

  agree(): Promise<void> {
    return this.check();
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
