import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Claim } from '../../lib/store/consumer-store.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { GroupStore } from '../../lib/groups/group-store.js';
import { ofGroup } from '../support/of-group.js';
import { until } from '../support/until.js';
import { ContractQueue } from './contract-queue.js';
import { openRedisQueue } from './redis-queue.js';
import { PREFIX } from './redis-stores.js';

const HOUR = 3_600_000;
const LIMITS = { attempts: 3, maxDeadLetters: 10, maxMessages: null, rate: null };

describe('a group whose concurrency was lowered', () => {
  let queue: ContractQueue;
  /** A process that gives each group three permits, and one that gives it a single permit. */
  let wide: MessageStore;
  let narrow: MessageStore;

  beforeEach(() => {
    const slots = [3, 1];
    const underTest = openRedisQueue((connections, name) => {
      const rules = { concurrency: slots.shift()!, onRetry: 'hold' } as const;
      return new GroupStore(connections, { prefix: PREFIX, queue: name, limits: LIMITS, rules });
    });
    queue = new ContractQueue(underTest, LIMITS);
    wide = queue.store;
    narrow = queue.secondView;
  });
  afterEach(() => queue.close());

  async function makeReady(store: MessageStore, ...ids: string[]): Promise<void> {
    await store.offer(
      ids.map((id, i) => ofGroup({ id, due: { at: i }, onDuplicate: 'reject', body: 'J1' }, id.slice(0, 1))),
    );
    await until(async () => (await store.transfer({ limit: 9 })).moved > 0);
  }

  const claim = (store: MessageStore) => queue.claim(9, HOUR, store);

  const ack = (store: MessageStore, claims: readonly Claim[]) =>
    store.settle(claims.map((claim) => ({ claim, outcome: { kind: 'ack' } })));

  it('lets the next message be claimed once all of the earlier permits are freed', async () => {
    await makeReady(wide, 'a1', 'a2', 'a3', 'a4', 'a5');
    const claims = await claim(wide);
    expect(claims.map(({ id }) => id)).toEqual(['a1', 'a2', 'a3']);
    for (const active of claims) {
      expect(await claim(narrow)).toEqual([]);
      await ack(narrow, [active]);
    }
    for (const id of ['a4', 'a5']) {
      const next = await claim(narrow);
      expect(next.map((message) => message.id)).toEqual([id]);
      await ack(narrow, next);
    }
    expect(await queue.leftovers()).toEqual([]);
  });

  it('leaves other groups their single permits', async () => {
    await makeReady(wide, 'a1', 'a2');
    await makeReady(narrow, 'b1', 'b2');
    const claims = await claim(narrow);
    expect(claims.map(({ id }) => id)).toEqual(['a1', 'b1']);
    await ack(narrow, claims);
    expect((await claim(narrow)).map(({ id }) => id)).toEqual(['a2', 'b2']);
  });
});

describe('a group whose concurrency was raised', () => {
  it('has room for a message that falls due later', async () => {
    const slots = [1, 2];
    const queue = new ContractQueue(
      openRedisQueue((connections, name) => {
        const rules = { concurrency: slots.shift()!, onRetry: 'hold' } as const;
        return new GroupStore(connections, { prefix: PREFIX, queue: name, limits: LIMITS, rules });
      }),
      LIMITS,
    );
    const [narrow, wide] = [queue.store, queue.secondView];
    const offer = (id: string) =>
      narrow.offer([ofGroup({ id, due: { at: 0 }, onDuplicate: 'reject', body: 'J1' }, 'a')]);
    try {
      await offer('a1');
      await narrow.transfer({ limit: 9 });
      expect(await queue.claim(9, HOUR, narrow)).toHaveLength(1);
      await offer('a2');
      expect(await wide.transfer({ limit: 9 })).toMatchObject({ moved: 1, ready: 1 });
    } finally {
      await queue.close();
    }
  });
});
