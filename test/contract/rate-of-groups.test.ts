import { afterEach, describe, expect, it } from '@jest/globals';
import type { ClaimReport } from '../../lib/store/consumer-store.js';
import type { Offer } from '../../lib/store/producer-store.js';
import type { GroupRules, MessageStore } from '../../lib/store/message-store.js';
import { ofGroup } from '../support/of-group.js';
import { until } from '../support/until.js';
import { openQueueWithGroups, type QueueWithGroups } from './queue-with-groups.js';

const HOUR = 3_600_000;
const LIMITS = { attempts: 3, maxDeadLetters: 10, maxMessages: null, rate: { max: 1, per: HOUR } };
const RULES: GroupRules = { concurrency: 1, onRetry: 'hold' };

describe.each(['Redis', 'memory'] as const)('the rate of a queue with groups: %s', (where) => {
  const open = () => openQueueWithGroups[where](LIMITS, RULES);
  let both: QueueWithGroups;
  afterEach(() => both.close());

  async function makeReady(store: MessageStore, ...ids: string[]): Promise<void> {
    const offers = ids.map((id): Offer => ({ id, due: { at: 0 }, onDuplicate: 'reject', body: 'J1' }));
    await store.offer(store === both.grouped ? offers.map((offer) => ofGroup(offer, `of ${offer.id}`)) : offers);
    await until(async () => (await store.transfer({ limit: 9 })).moved > 0);
  }

  const claim = (store: MessageStore, token: string): Promise<ClaimReport> =>
    store.claim({ token, limit: 2, lease: HOUR });

  it.each(['plain', 'grouped'] as const)(
    'counts claims of messages with and without groups together: %s first',
    async (first) => {
      both = open();
      const { [first]: one, [first === 'plain' ? 'grouped' : 'plain']: other } = both;
      await makeReady(one, 'a');
      await makeReady(other, 'b');
      expect((await claim(one, 'first')).messages).toHaveLength(1);
      expect((await claim(other, 'second')).messages).toEqual([]);
    },
  );

  it.each(['plain', 'grouped'] as const)(
    'makes one consumer wait for messages with groups and one for messages without: %s first',
    async (first) => {
      both = open();
      const { [first]: one, [first === 'plain' ? 'grouped' : 'plain']: other } = both;
      await makeReady(one, 'a', 'b');
      await makeReady(other, 'c');
      for (const [store, token] of [
        [one, 'first'],
        [other, 'second'],
      ] as const) {
        expect((await claim(store, token)).claimAgainIn).toBeGreaterThan(0);
        expect((await claim(store, `${token}, later`)).claimAgainIn).toBeUndefined();
      }
    },
  );
});
