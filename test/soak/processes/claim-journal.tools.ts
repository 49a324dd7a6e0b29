import { expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClaimedMessage } from '../../../lib/store/consumer-store.js';
import type { Offer } from '../../../lib/store/producer-store.js';
import { MemoryMessageStore } from '../../../lib/store/memory/memory-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { Journal } from '../journal/journal.js';
import { ClaimJournal } from './claim-journal.js';

const limits = { attempts: 3, maxDeadLetters: 1000, maxMessages: null };
const offer = (after: number): Offer => ({ id: 'a', due: { after }, onDuplicate: 'replace', body: 'J1' });
const started = ({ id, failedAttempts, dueAt }: ClaimedMessage) => {
  return { queue: 'orders', id, attempt: failedAttempts + 1, dueAt: new Date(dueAt) };
};

test('a claimed message waiting for its handler is told apart from its replacement', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'claim-journal-'));
  const claims = new ClaimJournal(new Journal(join(folder, 'worker.journal'), Date.now()));
  const clock = new ManualClock();
  const store = claims.listenTo('orders', new MemoryMessageStore({ limits, clock }));
  const claimed = async (token: string) => {
    await clock.advance(10);
    await store.transfer({ limit: 1 });
    const { messages } = await store.claim({ token, limit: 1, lease: 1000 });
    return messages[0]!;
  };

  await store.offer([offer(10)]);
  const replaced = await claimed('first');
  await store.offer([offer(10)]);
  const replacement = await claimed('second');

  expect(claims.startedBy(started(replaced)).claim).toBe(1);
  expect(claims.startedBy(started(replacement)).claim).toBe(2);
  rmSync(folder, { recursive: true });
});
