import { createRequire } from 'node:module';
import path from 'node:path';
import { jest } from '@jest/globals';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';

/** The peers that the benchmark is run against, which `npm run test:peers` installs. */
const require = createRequire(path.resolve(import.meta.dirname, '../../bench/package.json'));

/** The parts of BullMQ that the documentation speaks of. */
export interface BullMq {
  readonly Queue: new (name: string, options: object) => BullQueue;
  readonly Worker: new (name: string, processor: Processor | null, options: object) => BullWorker;
  readonly UnrecoverableError: new (message: string) => Error;
}

export interface BullQueue {
  readonly name: string;
  toKey(type: string): string;
  add(name: string, data: unknown, options?: object): Promise<BullJob>;
  addBulk(jobs: readonly object[]): Promise<unknown>;
  getJob(id: string): Promise<BullJob | undefined>;
  getDelayed(start: number, end: number): Promise<BullJob[]>;
  getJobCounts(): Promise<Record<string, number>>;
  remove(id: string): Promise<number>;
  getRateLimitTtl(): Promise<number>;
  setGlobalConcurrency(concurrency: number): Promise<unknown>;
  obliterate(options: { force: boolean }): Promise<void>;
  close(): Promise<void>;
}

export interface BullJob {
  readonly id?: string;
  readonly name: string;
  readonly data: unknown;
  readonly timestamp: number;
  readonly delay: number;
  readonly attemptsMade: number;
  readonly failedReason: string;
  getState(): Promise<string>;
  changeDelay(ms: number): Promise<void>;
  moveToCompleted(result: unknown, token: string): Promise<unknown>;
}

export interface BullWorker {
  readonly opts: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

export type Processor = (job: BullJob, token?: string, signal?: AbortSignal) => Promise<unknown>;

/** The parts of bee-queue. */
export type BeeQueueClass = new (name: string, settings: object) => BeeQueue;

export interface BeeQueue {
  readonly settings: Readonly<Record<string, unknown>>;
  createJob(data: unknown): BeeJob;
  getJob(id: string): Promise<BeeJob | null>;
  removeJob(id: string): Promise<unknown>;
  process(handler: (job: BeeJob) => Promise<unknown>): void;
  checkHealth(): Promise<Record<string, number>>;
  close(timeout?: number): Promise<void>;
}

export interface BeeJob {
  readonly id: string;
  delayUntil(timestamp: number): this;
  retries(count: number): this;
  save(): Promise<this>;
}

export const loadBullMq = () => require('bullmq') as BullMq;
export const loadBeeQueue = () => require('bee-queue') as BeeQueueClass;

export function connection(): { host: string; port: number } {
  const { hostname, port } = new URL(sharedRedisUrl());
  return { host: hostname, port: Number(port) };
}

/** Sets the clock of this process forward, for what reads it by `Date.now()`. */
export function setClockForward(ms: number): void {
  const { now } = Date;
  jest.spyOn(Date, 'now').mockImplementation(() => now.call(Date) + ms);
}
