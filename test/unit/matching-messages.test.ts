import { describe, expect, test } from '@jest/globals';
import { DelayQueueError, type DelayQueueErrorCode } from '../../lib/message/delay-queue-errors.js';
import type { MessageSnapshot } from '../../lib/message/message.js';
import { StoredMatches } from '../../lib/search/matching-messages.js';
import { CheckedFilter } from '../../lib/search/message-filter.js';
import type { StoredMessage, StoredPage } from '../../lib/store/admin-store.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import { PlainRouter } from '../../lib/store/router.js';
import { WholeQueue } from '../../lib/store/whole-queue.js';
import { systemClock } from '../../lib/timing/clock.js';
import { refusalOf } from '../support/refusal.js';

const HOUR = 3_600_000;

/** A store that fails to cancel some messages, or to list the second page. */
class FailingStore extends MemoryMessageStore {
  readonly failures = new Map<string, DelayQueueErrorCode>();
  missingPartition: number | undefined;
  pages = 0;

  override cancel(id: string): Promise<boolean> {
    const code = this.failures.get(id);
    return code ? Promise.reject(new DelayQueueError(code, `cannot cancel ${id}`)) : super.cancel(id);
  }

  override async list(request: Parameters<MemoryMessageStore['list']>[0]): Promise<StoredPage> {
    if (++this.pages === 2 && this.failures.has('list')) throw new DelayQueueError('NOT_CONNECTED', 'no answer');
    const page = await super.list(request);
    return this.missingPartition === undefined ? page : { ...page, missing: [this.missingPartition] };
  }
}

async function open(count: number) {
  const limits = { attempts: 1, maxDeadLetters: 10, maxMessages: null };
  const store = new FailingStore({ limits, clock: systemClock });
  await store.offer(
    Array.from({ length: count }, (_, i) => ({
      id: `m${i}`,
      due: { after: HOUR + i },
      onDuplicate: 'reject' as const,
      body: 'J1',
    })),
  );
  const router = new PlainRouter(store);
  const show = ({ id, dueAt }: StoredMessage) => ({ id, dueAt: new Date(dueAt) }) as MessageSnapshot;
  const deadLetters = { redrive: () => Promise.resolve(true), discard: () => Promise.resolve(true) };
  const queue = { store: new WholeQueue(router), router, show, deadLetters };
  return { store, matching: new StoredMatches(queue, new CheckedFilter({ state: 'delayed' })) };
}

describe('changes of matching messages', () => {
  test('end after a step in which one has failed, and the error says how many were made', async () => {
    const { store, matching } = await open(1200);
    store.failures.set('m3', 'OUTCOME_UNKNOWN');
    const error = await refusalOf(matching.cancel());
    expect(error).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      message: expect.stringMatching(/^matching\(\)\.cancel has changed messages: 399\. Failed: message 'm3'/),
      cause: { errors: [expect.objectContaining({ messageId: 'm3' })] },
    });
    expect((await store.status()).counts.delayed).toBe(801);
  });

  test('count those that may not be replicated, and go on', async () => {
    const { store, matching } = await open(1200);
    store.cancel = async (id) => {
      await MemoryMessageStore.prototype.cancel.call(store, id);
      if (id === 'm3') throw new DelayQueueError('NOT_REPLICATED', 'perhaps not');
      return true;
    };
    const error = await refusalOf(matching.cancel());
    expect(error).toMatchObject({ code: 'NOT_REPLICATED', message: expect.stringContaining('changed messages: 1200') });
    expect((await store.status()).counts.delayed).toBe(0);
  });

  test('that have been made are named if the search cannot go on', async () => {
    const { store, matching } = await open(1200);
    store.failures.set('list', 'NOT_CONNECTED');
    const error = await refusalOf(matching.cancel());
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', message: expect.stringContaining('messages: 400') });
    const { matching: other, store: otherStore } = await open(1);
    otherStore.pages = 1;
    otherStore.failures.set('list', 'NOT_CONNECTED');
    expect(await refusalOf(other.cancel())).toMatchObject({ code: 'NOT_CONNECTED', message: 'no answer' });
  });

  test('tell the messages that have moved on from those that were changed', async () => {
    const { store, matching } = await open(10);
    const list = store.list.bind(store);
    store.list = async (request) => {
      const page = await list(request);
      await store.cancel('m4');
      return page;
    };
    expect(await matching.cancel()).toEqual({ matched: 10, changed: 9, movedOn: 1, examined: 10, isComplete: true });
  });

  test('count messages without an id, which only another system knows, and leave them alone', async () => {
    const { store, matching } = await open(3);
    const list = store.list.bind(store);
    store.list = async (request) => {
      const page = await list(request);
      return { ...page, messages: page.messages.map((message, i) => (i === 1 ? { ...message, id: '' } : message)) };
    };
    expect(await matching.cancel()).toEqual({ matched: 3, changed: 2, movedOn: 0, examined: 3, isComplete: true });
    expect((await store.status()).counts.delayed).toBe(1);
  });

  test("take a delay from the start of the call, by the store's clock", async () => {
    const { store, matching } = await open(3);
    const now = Date.now() + 10 * HOUR;
    const status = store.status.bind(store);
    store.status = async () => ({ ...(await status()), now });
    await matching.reschedule('2h');
    const { messages } = await store.list({ state: 'delayed', limit: 10 });
    expect(messages.map(({ dueAt }) => dueAt)).toEqual(Array(3).fill(now + 2 * HOUR));
  });

  test('are not complete if a partition is missing', async () => {
    const { store, matching } = await open(10);
    store.missingPartition = 2;
    expect(await matching.cancel()).toMatchObject({ changed: 10, isComplete: false, missing: [2] });
  });
});
