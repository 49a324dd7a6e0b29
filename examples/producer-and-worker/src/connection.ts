import type { DelayQueueModuleOptions } from 'nestjs-delay-queue';

const url = process.env.REDIS_URL;

/** Without Redis, producer and worker are one process, and messages stay in it. */
export const where: DelayQueueModuleOptions = url ? { connection: url } : { store: 'memory' };
export const isShared = url !== undefined && url !== '';
