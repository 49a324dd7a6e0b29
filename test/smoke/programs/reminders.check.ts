// The steps of a test, whichever runner executes it.
import { Test } from '@nestjs/testing';
import * as assert from 'node:assert/strict';
import { DelayQueueError, DelayQueueProducer } from 'nestjs-delay-queue';
import { DelayQueueTester, DelayQueueTestingModule, type HandleOutcome } from 'nestjs-delay-queue/testing';
import { Reminders, RemindersModule } from './reminders.js';

/** @param whileItRuns - called when the application has started */
export async function checkReminders(whileItRuns: () => unknown = () => undefined): Promise<void> {
  const startAt = new Date('2030-01-01T00:00:00Z');
  const imports = [RemindersModule, DelayQueueTestingModule.startAt(startAt)];
  const app = await Test.createTestingModule({ imports }).compile();
  await app.init();
  whileItRuns();
  const queue = app.get(DelayQueueTester);
  const { reminded } = app.get(Reminders);

  await app.get(Reminders).place('o-1');
  const [offer] = queue.offered<{ orderId: string }>('reminders');
  assert.deepEqual([offer?.type, offer?.payload, offer?.delay], ['remind', { orderId: 'o-1' }, 1_800_000]);

  await queue.advance('31m');
  assert.deepEqual(reminded, []);
  await queue.drain();
  assert.deepEqual(reminded, ['o-1']);
  assert.equal(queue.now().toISOString(), '2030-01-01T00:32:00.000Z');

  const outcome: HandleOutcome = await queue.handle('reminders', { orderId: 'o-2' }, { type: 'remind', attempt: 2 });
  assert.equal(outcome.kind === 'retry' && outcome.delay, 60_000);

  // One copy of the package: the error of one entry is that of the other.
  const refused: unknown = await queue.advance(-1).catch((error: unknown) => error);
  assert.ok(refused instanceof DelayQueueError);
  assert.equal((await app.get(DelayQueueProducer).counts('reminders')).dead, 0);
  await app.close();
}
