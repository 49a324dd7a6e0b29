// The parts of the peers that are used here, so that linting and type checking need none of them installed. These
// declarations replace those of the packages.

declare module 'bullmq' {
  interface Connection {
    host: string;
    port: number;
  }
  interface JobOptions {
    delay?: number;
    removeOnComplete?: boolean;
    removeOnFail?: boolean;
  }
  export class Job<Data> {
    readonly id?: string;
    readonly data: Data;
    changeDelay(delay: number): Promise<void>;
  }
  export class Queue<Data> {
    constructor(name: string, options: { connection: Connection; defaultJobOptions?: JobOptions });
    waitUntilReady(): Promise<unknown>;
    add(name: string, data: Data, options?: JobOptions): Promise<Job<Data>>;
    addBulk(jobs: { name: string; data: Data; opts?: JobOptions }[]): Promise<Job<Data>[]>;
    getJob(id: string): Promise<Job<Data> | undefined>;
    remove(id: string): Promise<number>;
  }
  export class Worker<Data> {
    constructor(
      name: string,
      processor: (job: Job<Data>) => Promise<unknown>,
      options: { connection: Connection; concurrency: number },
    );
    waitUntilReady(): Promise<unknown>;
    on(event: 'error', listener: (error: Error) => void): this;
  }
}

declare module 'bee-queue' {
  interface Settings {
    redis: { host: string; port: number };
    isWorker?: boolean;
    getEvents?: boolean;
    sendEvents?: boolean;
    storeJobs?: boolean;
    activateDelayedJobs?: boolean;
    delayedDebounce?: number;
    removeOnSuccess?: boolean;
    removeOnFailure?: boolean;
  }
  interface Job<Data> {
    readonly id: string;
    readonly data: Data;
    delayUntil(timestamp: number): this;
    save(): Promise<this>;
  }
  export default class BeeQueue<Data> {
    constructor(name: string, settings: Settings);
    ready(): Promise<this>;
    createJob(data: Data): Job<Data>;
    saveAll(jobs: Job<Data>[]): Promise<Map<Job<Data>, Error>>;
    removeJob(id: string): Promise<void>;
    process(concurrency: number, handler: (job: Job<Data>) => Promise<void>): void;
    on(event: 'error', listener: (error: Error) => void): this;
  }
}

declare module 'pg-boss' {
  interface Database {
    host: string;
    port: number;
    user: string;
    database: string;
  }
  interface WorkOptions {
    batchSize?: number;
    pollingIntervalSeconds?: number;
    burstWhenBatchFull?: boolean;
  }
  export interface JobInsert {
    data: object;
    startAfter?: Date;
  }
  export class PgBoss {
    constructor(options: Database);
    start(): Promise<this>;
    createQueue(name: string): Promise<void>;
    send(name: string, data: object, options?: { startAfter?: Date }): Promise<string | null>;
    insert(name: string, jobs: JobInsert[]): Promise<string[] | null>;
    work<Data>(name: string, options: WorkOptions, handler: (jobs: { data: Data }[]) => Promise<void>): Promise<string>;
    on(event: 'error', listener: (error: Error) => void): this;
  }
}
