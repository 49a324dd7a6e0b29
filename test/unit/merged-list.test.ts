import { describe, expect, it } from '@jest/globals';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { PageRequest } from '../../lib/store/admin-store.js';
import { PlainRouter } from '../../lib/store/router.js';
import { WholeQueue } from '../../lib/store/whole-queue.js';
import { ManualClock } from '../support/manual-clock.js';

/** More than one call may return. */
const MESSAGES = 3000;

describe('a queue without partitions', () => {
  it.each(['delayed', 'dead'] as const)('lists %s messages from an offset in one call', async (state) => {
    const limits = { attempts: 3, maxDeadLetters: MESSAGES, maxMessages: null };
    const store = new MemoryMessageStore({ limits, clock: new ManualClock() });
    const asked: PageRequest[] = [];
    const list = store.list.bind(store);
    store.list = (request) => {
      asked.push(request);
      return list(request);
    };
    const ids = Array.from({ length: MESSAGES }, (_, i) => `m${String(i).padStart(4, '0')}`);
    await store.offer(
      ids.map((id) => ({ id, due: { after: state === 'dead' ? 0 : 1000 }, onDuplicate: 'keep', body: 'J1' })),
    );
    if (state === 'dead') {
      await store.transfer({ limit: MESSAGES });
      const { messages } = await store.claim({ token: 't', limit: MESSAGES, lease: 1000 });
      const outcome = { kind: 'dead', error: '{}' } as const;
      await store.settle(messages.map(({ id }) => ({ claim: { id, token: 't' }, outcome })));
    }
    const queue = new WholeQueue(new PlainRouter(store));
    const page = await queue.list({ state, from: { offset: MESSAGES - 5 }, limit: 3 });
    expect(page.messages.map(({ id }) => id)).toEqual(ids.slice(-5, -2));
    expect(asked).toHaveLength(1);
    const next = await queue.list({ state, from: { cursor: page.cursor! }, limit: 3 });
    expect(next.messages.map(({ id }) => id)).toEqual(ids.slice(-2));
  });
});
