// The test of the handler, for any test runner that the application has.
import { Test } from '@nestjs/testing';
import * as assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayQueueProducer } from 'nestjs-delay-queue';
import { Greetings, GreetingsModule } from './greetings.js';

interface FakeTimers {
  useFakeTimers(): unknown;
  useRealTimers(): unknown;
}

/** The globals of jest or vitest; jest gives none to ES modules. */
declare const it: (name: string, run: () => Promise<void>) => void;
declare const jest: FakeTimers;
declare const vi: FakeTimers;
const timers = typeof jest !== 'undefined' ? jest : typeof vi !== 'undefined' ? vi : undefined;

it('greets on time', async () => {
  const app = await Test.createTestingModule({ imports: [GreetingsModule] }).compile();
  await app.init();
  await app.get(DelayQueueProducer).offer('greetings', { name: 'Ada' }, 20);
  const { greeted } = app.get(Greetings);
  while (greeted.length === 0) await sleep(5);
  await app.close();
  assert.deepEqual(greeted, ['Ada']);
});

if (timers) {
  it('accepts offers while timers are faked', async () => {
    const app = await Test.createTestingModule({ imports: [GreetingsModule] }).compile();
    await app.init();
    timers.useFakeTimers();
    const producer = app.get(DelayQueueProducer);
    const { id } = await producer.offer('greetings', { name: 'Ada' }, '1h');
    await Promise.all([producer.offer('greetings', { name: 'Bob' }, '1h'), producer.cancel('greetings', id)]);
    assert.equal((await producer.counts('greetings')).delayed, 1);
    timers.useRealTimers();
    await app.close();
  });
}
