// The test of it, for whatever test runner the application has.
import { Test } from '@nestjs/testing';
import * as assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayQueueProducer } from 'nestjs-delay-queue';
import { Greetings, GreetingsModule } from './greetings.js';

/** That of jest or vitest. */
declare const it: (name: string, run: () => Promise<void>) => void;

it('greets in time', async () => {
  const app = await Test.createTestingModule({ imports: [GreetingsModule] }).compile();
  await app.init();
  await app.get(DelayQueueProducer).offer('greetings', { name: 'Ada' }, 20);
  const { greeted } = app.get(Greetings);
  while (greeted.length === 0) await sleep(5);
  await app.close();
  assert.deepEqual(greeted, ['Ada']);
});
