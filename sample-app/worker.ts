import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayQueueModule } from 'nestjs-delay-queue';
import { ParcelPacker } from './parcels/parcel-packer.js';
import { PersistenceModule } from './persistence/persistence.module.js';

// The shop starts this program as a second process, in order to freeze it. Once ready, it prints its process id.
const url = process.env.REDIS_URL ?? '';

@Module({
  imports: [
    DelayQueueModule.forRoot({ connection: url }),
    PersistenceModule.on({ kind: 'redis', url, label: 'the Redis of the shop' }),
  ],
  providers: [ParcelPacker],
})
class WorkerModule {}

await NestFactory.createApplicationContext(WorkerModule, { logger: ['error'] });
console.log(process.pid);
