// A test as a process of its own: it must end by itself, whether or not the application was closed.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DelayQueueModule, DelayQueueProducer } from '../../lib/index.js';
import { DelayQueueTester, DelayQueueTestingModule } from '../../lib/testing/index.js';
import { handlerOf } from './test-app.js';

let handled = 0;

@Module({
  imports: [DelayQueueModule.forRoot({ connection: 'redis://nowhere.invalid:1' })],
  providers: [handlerOf('orders', () => void handled++)],
})
class AppModule {}

const module = await Test.createTestingModule({ imports: [AppModule, DelayQueueTestingModule] }).compile();
await module.init();
await module.get(DelayQueueProducer).offer('orders', {}, '30m');
await module.get(DelayQueueProducer).offer('orders', {}, '2h');
await module.get(DelayQueueTester).advance('1h');
if (process.argv.includes('close')) await module.close();
const resources = process.getActiveResourcesInfo().filter((kind) => kind !== 'PipeWrap');
console.log(JSON.stringify({ handled, resources }));
