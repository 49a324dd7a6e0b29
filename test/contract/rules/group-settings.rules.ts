import { describe, expect, it } from '@jest/globals';
import type { GroupBacklog, GroupSettings } from '../../../lib/store/admin-store.js';
import type { GroupRules } from '../../../lib/store/message-store.js';
import { ContractQueues, HOUR, type OpenQueue, SHORT_LEASE } from '../contract-queue.js';
import { GroupedQueue, idsOf } from '../grouped-queue.js';

const RULES: Record<string, GroupRules> = {
  'one permit, held during retries': { concurrency: 1, onRetry: 'hold' },
  'one permit, passed on during retries': { concurrency: 1, onRetry: 'pass' },
  'two permits': { concurrency: 2, onRetry: 'hold' },
  'any number of permits': { concurrency: null, onRetry: 'hold' },
};

/** For stores with groups: groups that are paused, or have a concurrency of their own. */
export function describeGroupSettings(name: string, openQueue: OpenQueue): void {
  describe.each(Object.entries(RULES))(`${name} with groups that have %s`, (_name, groups) => {
    const queues = new ContractQueues(openQueue);
    const open = async () => new GroupedQueue(await queues.open({ groups }));
    const set = ({ store }: GroupedQueue, group: string, settings: GroupSettings) => store.setGroup!(group, settings);

    async function listed({ store }: GroupedQueue): Promise<Record<string, GroupBacklog>> {
      const groups: Record<string, GroupBacklog> = {};
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await store.listGroups!(cursor);
        for (const each of page.groups) groups[each.group] = each;
        ({ cursor } = page);
      }
      return groups;
    }

    it('a paused group holds what falls due, in order, and other groups go on', async () => {
      const queue = await open();
      await set(queue, 'a', { paused: true });
      await queue.makeReady('a1', 'b1', 'a2', 'b2', 'a3');
      expect(await queue.handleAll(2)).toEqual(['b1', 'b2']);
      expect((await queue.store.status()).counts.ready).toBe(3);
      const { messages } = await queue.store.list({ state: 'ready', limit: 10 });
      expect(idsOf(messages)).toEqual(['a1', 'a2', 'a3']);
      expect((await queue.store.countTypes()).counts).toContainEqual({ state: 'ready', type: '', count: 3 });
      expect((await listed(queue)).a).toMatchObject({ waiting: 3, holding: 0, paused: true });
      const signal = await queue.silentSignal();
      await set(queue, 'a', { paused: false });
      expect(await signal.wait(HOUR)).toBe(true);
      expect(await queue.handleAll(2)).toEqual(['a1', 'a2', 'a3']);
      expect(await queue.queue.leftovers()).toEqual([]);
    });

    it('a claim takes no message of paused groups, however few it may take and many they are', async () => {
      const queue = await open();
      await queue.makeReady('a1', 'b1', 'c1', 'd1');
      for (const group of ['a', 'b', 'd']) await set(queue, group, { paused: true });
      expect(await queue.handleAll(1)).toEqual(['c1']);
    });

    it('a pause holds messages that are already ready, in order', async () => {
      const queue = await open();
      await queue.makeReady('a1', 'b1', 'a2', 'a3', 'b2');
      await set(queue, 'a', { paused: true });
      expect(await queue.handleAll(1)).toEqual(['b1', 'b2']);
      expect((await listed(queue)).a).toMatchObject({ waiting: 3, holding: 0 });
      await set(queue, 'a', { paused: false });
      expect(await queue.handleAll(1)).toEqual(['a1', 'a2', 'a3']);
      expect(await queue.queue.leftovers()).toEqual([]);
    });

    it('a claim that comes to a paused group leaves what it does not take to other claims', async () => {
      const queue = await open();
      await queue.makeReady('x1', 'a1', 'b1', 'a2');
      await set(queue, 'x', { paused: true });
      expect((await queue.handleAll(2)).sort()).toEqual(['a1', 'a2', 'b1']);
    });

    it('an active message of a paused group is settled, and no other takes its place', async () => {
      const queue = await open();
      const claim = await queue.begin('a1', 'a2', 'a3');
      await set(queue, 'a', { paused: true });
      expect(await queue.settle(claim, { kind: 'ack' })).toBe(true);
      expect(await queue.take()).toEqual([]);
      await set(queue, 'a', { paused: false });
      expect(await queue.handleAll(1)).toEqual(['a2', 'a3']);
      expect(await queue.queue.leftovers()).toEqual([]);
    });

    it.each<[string, (queue: GroupedQueue, claim: Awaited<ReturnType<GroupedQueue['begin']>>) => Promise<unknown>]>([
      ['is released', (queue, claim) => queue.settle(claim, { kind: 'release' })],
      [
        'loses its lease',
        async (queue, claim) => {
          await queue.store.extend([claim], SHORT_LEASE);
          await queue.queue.advance(SHORT_LEASE + 1);
          await queue.queue.transferSomething();
        },
      ],
    ])('a message that %s during the pause comes before its successors afterwards', async (_how, comesBack) => {
      const queue = await open();
      const claim = await queue.begin('a1', 'a2', 'a3');
      await set(queue, 'a', { paused: true });
      await comesBack(queue, claim);
      expect(await queue.take()).toEqual([]);
      await set(queue, 'a', { paused: false });
      const handled = await queue.handleAll(1);
      // With several permits, the next message was ready, too, and a message that loses its lease comes behind those.
      expect(groups.concurrency === 1 ? handled : [...handled].sort()).toEqual(['a1', 'a2', 'a3']);
      expect(await queue.queue.leftovers()).toEqual([]);
    });

    it('a retry that is due during the pause waits for its end', async () => {
      const queue = await open();
      await queue.settle(await queue.begin('a1'), { kind: 'retry', delay: 0 });
      await set(queue, 'a', { paused: true });
      await queue.queue.transferSomething();
      expect(await queue.take()).toEqual([]);
      await set(queue, 'a', { paused: false });
      expect(await queue.handleAll(1)).toEqual(['a1']);
      expect(await queue.queue.leftovers()).toEqual([]);
    });

    it('messages of a paused group can be replaced and cleared, and the pause remains', async () => {
      const queue = await open();
      await queue.makeReady('a1', 'a2', 'a3');
      await set(queue, 'a', { paused: true });
      await queue.offer('a2', { after: HOUR }, { onDuplicate: 'replace' });
      expect(await queue.take()).toEqual([]);
      expect(await queue.store.cancel('a2')).toBe(true);
      expect(await queue.store.clear()).toBe(2);
      await queue.makeReady('a4', 'b1');
      expect(await queue.handleAll(3)).toEqual(['b1']);
      await set(queue, 'a', { paused: false });
      expect(await queue.handleAll(3)).toEqual(['a4']);
      expect(await queue.queue.leftovers()).toEqual([]);
    });

    it('a redriven message of a paused group waits for its end', async () => {
      const queue = await open();
      await queue.settle(await queue.begin('a1'), { kind: 'dead', error: '{}' });
      await set(queue, 'a', { paused: true });
      await queue.store.redrive({ id: 'a1' });
      await queue.queue.transferSomething();
      expect(await queue.take()).toEqual([]);
      await set(queue, 'a', { paused: false });
      expect(await queue.take()).toEqual(['a1']);
    });

    it('a pause is kept and listed for a group without messages, and costs nothing once it has ended', async () => {
      const queue = await open();
      await set(queue, 'a', { paused: true });
      expect(await listed(queue)).toEqual({
        a: { group: 'a', waiting: 0, holding: 0, paused: true, concurrency: undefined },
      });
      await set(queue, 'a', { paused: true, concurrency: 'unlimited' });
      expect(await listed(queue)).toEqual({
        a: { group: 'a', waiting: 0, holding: 0, paused: true, concurrency: 'unlimited' },
      });
      await set(queue, 'a', { paused: false, concurrency: 'default' });
      expect(await listed(queue)).toEqual({});
    });

    it('a group handles as many messages at once as its own concurrency says, and others as the queue says', async () => {
      const queue = await open();
      await set(queue, 'a', { concurrency: 3 });
      await queue.makeReady('a1', 'a2', 'b1', 'a3', 'a4', 'b2', 'a5');
      const claims = [...(await queue.claim(5)), ...(await queue.claim(100)), ...(await queue.claim(100))];
      const ids = idsOf(claims);
      expect(ids.filter((id) => id.startsWith('a'))).toEqual(['a1', 'a2', 'a3']);
      expect(ids.filter((id) => id.startsWith('b'))).toHaveLength(Math.min(2, groups.concurrency ?? 2));
      await queue.settle(
        claims.find(({ id }) => id === 'a2'),
        { kind: 'ack' },
      );
      expect(await queue.take()).toEqual(['a4']);
      expect(await queue.take()).toEqual([]);
    });

    it('a higher concurrency admits messages that wait, and wakes a consumer', async () => {
      const queue = await open();
      await set(queue, 'a', { concurrency: 1 });
      await queue.begin('a1', 'a2', 'a3', 'a4');
      expect(await queue.take()).toEqual([]);
      const signal = await queue.silentSignal();
      await set(queue, 'a', { concurrency: 3 });
      expect(await signal.wait(HOUR)).toBe(true);
      const more = [...(await queue.take()), ...(await queue.take())];
      expect(more).toEqual(['a2', 'a3']);
    });

    it('a message that is put off after the concurrency was raised leaves the order of the others as it was', async () => {
      const queue = await open();
      await queue.makeReady('a1', 'a2', 'a3', 'a4');
      await set(queue, 'a', { concurrency: 100 });
      await queue.offer('a1', { after: HOUR }, { onDuplicate: 'replace' });
      expect(await queue.handleAll(1)).toEqual(['a2', 'a3', 'a4']);
    });

    it('a lower concurrency lets those that are active finish first', async () => {
      const queue = await open();
      await set(queue, 'a', { concurrency: 3 });
      await queue.makeReady('a1', 'a2', 'a3', 'a4', 'a5');
      const claims = [...(await queue.claim()), ...(await queue.claim())];
      expect(idsOf(claims)).toEqual(['a1', 'a2', 'a3']);
      await set(queue, 'a', { concurrency: 1 });
      for (const claim of claims.slice(0, 2)) {
        await queue.settle(claim, { kind: 'ack' });
        expect(await queue.take()).toEqual([]);
      }
      await queue.settle(claims[2], { kind: 'ack' });
      expect(await queue.take()).toEqual(['a4']);
      expect(await queue.take()).toEqual([]);
    });

    it('a pause and a concurrency are independent, and the default removes the latter', async () => {
      const queue = await open();
      await set(queue, 'a', { concurrency: 4 });
      await set(queue, 'a', { paused: true });
      expect((await listed(queue)).a).toMatchObject({ paused: true, concurrency: 4 });
      await set(queue, 'a', { concurrency: 'unlimited' });
      await set(queue, 'a', { paused: false });
      expect((await listed(queue)).a).toMatchObject({ paused: false, concurrency: 'unlimited' });
      await queue.makeReady('a1', 'a2', 'a3');
      expect([...(await queue.claim()), ...(await queue.claim())]).toHaveLength(3);
      await set(queue, 'a', { concurrency: 'default' });
      await queue.makeReady('b1');
      expect(await queue.take()).toEqual(['b1']);
      expect((await listed(queue)).a).toMatchObject({ paused: false, concurrency: undefined });
    });

    it('a repair changes nothing about groups with settings', async () => {
      const queue = await open();
      await set(queue, 'a', { paused: true });
      await set(queue, 'b', { concurrency: 2 });
      await queue.makeReady('a1', 'a2', 'b1', 'b2', 'b3');
      const before = await listed(queue);
      expect(await queue.store.repair(HOUR)).toEqual({ ready: [], delayed: [], cursor: null });
      expect(await listed(queue)).toEqual(before);
    });
  });
}
