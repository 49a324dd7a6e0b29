import { afterEach, describe, expect, it } from '@jest/globals';
import type { Claim } from '../../lib/store/consumer-store.js';
import type { Offer } from '../../lib/store/producer-store.js';
import type { GroupRules, MessageStore } from '../../lib/store/message-store.js';
import { ofGroup } from '../support/of-group.js';
import { until } from '../support/until.js';
import { openQueueWithGroups, type QueueWithGroups } from './queue-with-groups.js';

const HOUR = 3_600_000;
const LIMITS = { attempts: 3, maxDeadLetters: 10, maxMessages: null, globalConcurrency: 2 };
const RULES: GroupRules = { concurrency: 2, onRetry: 'hold' };

describe.each(['Redis', 'memory'] as const)('the global concurrency of a queue with groups: %s', (where) => {
  const open = () => openQueueWithGroups[where](LIMITS, RULES);
  let both: QueueWithGroups;
  let tokens = 0;
  afterEach(() => both.close());

  async function makeReady(store: MessageStore, ...ids: string[]): Promise<void> {
    const offers = ids.map((id): Offer => ({ id, due: { at: 0 }, onDuplicate: 'reject', body: 'J1' }));
    await store.offer(store === both.grouped ? offers.map((offer) => ofGroup(offer, 'one')) : offers);
    await until(async () => (await store.transfer({ limit: 9 })).moved > 0);
  }

  async function claim(store: MessageStore, limit = 9): Promise<Claim[]> {
    const token = `token ${tokens++}`;
    const { messages, more } = await store.claim({ token, limit, lease: HOUR });
    if (messages.length < limit) expect(more).toBe(false);
    return messages.map(({ id }) => ({ id, token, ...(store === both.grouped && { group: 'one' }) }));
  }

  describe.each(['plain', 'grouped'] as const)('messages of both kinds, %s first', (first) => {
    const stores = () => [both[first], both[first === 'plain' ? 'grouped' : 'plain']] as const;

    it('count together', async () => {
      both = open();
      const [one, other] = stores();
      await makeReady(one, 'a', 'b', 'c');
      await makeReady(other, 'd', 'e');
      const [a] = await claim(one, 1);
      const [d] = await claim(other);
      expect([a?.id, d?.id]).toEqual(['a', 'd']);
      expect(await claim(one)).toEqual([]);
      expect(await claim(other)).toEqual([]);
      await one.settle([{ claim: a!, outcome: { kind: 'ack' } }]);
      expect((await claim(other)).map(({ id }) => id)).toEqual(['e']);
      expect(await claim(one)).toEqual([]);
      await other.settle([{ claim: d!, outcome: { kind: 'retry', delay: HOUR } }]);
      expect((await claim(one)).map(({ id }) => id)).toEqual(['b']);
    });

    it('wake the consumers of both kinds, and the others first', async () => {
      both = open();
      const [one, other] = stores();
      await makeReady(one, 'a', 'b', 'c');
      const [a] = await claim(one, 2);
      await makeReady(other, 'd');
      const signals = [one, other].map((store) => store.openWakeSignal());
      const woken: string[] = [];
      const waits = signals.map(async (signal, i) => {
        while (woken.length < 2 && (await signal.wait(HOUR))) woken.push(i === 0 ? 'one' : 'other');
      });
      await until(() => woken.length === 0 || woken.length === 1);
      woken.length = 0;
      await one.settle([{ claim: a!, outcome: { kind: 'ack' } }]);
      await until(() => woken.length >= 2);
      expect([...woken].sort()).toEqual(['one', 'other']);
      expect((await claim(other)).map(({ id }) => id)).toEqual(['d']);
      await Promise.all(signals.map((signal) => signal.close()));
      await Promise.all(waits);
    });
  });
});
