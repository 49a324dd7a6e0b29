import { describe, expect, it } from '@jest/globals';
import { ofGroup, wrapGroup } from '../../support/of-group.js';
import type { Claim, Outcome } from '../../../lib/store/consumer-store.js';
import type { GroupRules, StoreLimits } from '../../../lib/store/message-store.js';
import { ContractQueues, defined, HOUR, type OpenQueue, SHORT_LEASE } from '../contract-queue.js';
import { GroupedQueue, idsOf } from '../grouped-queue.js';

const ONE_HELD: GroupRules = { concurrency: 1, onRetry: 'hold' };
const ONE_PASSED: GroupRules = { concurrency: 1, onRetry: 'pass' };

/** By group: the permits in use, the length of the backlog, and the messages that have the permits. */
async function backlogsOf({ store }: GroupedQueue): Promise<Record<string, [number, number, string[]]>> {
  const backlogs: Record<string, [number, number, string[]]> = {};
  let total = 0;
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await store.listGroups!(cursor);
    for (const { group, waiting, holding } of page.groups) backlogs[group] = [holding, waiting, []];
    ({ total, cursor } = page);
  }
  expect(total).toBe(Object.keys(backlogs).length);
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await store.listHolders!(cursor);
    for (const { id, group } of page.holders) backlogs[group]![2].push(id);
    ({ cursor } = page);
  }
  for (const [, , holders] of Object.values(backlogs)) holders.sort();
  return backlogs;
}

type Step = (queue: GroupedQueue, claim: Claim) => Promise<unknown>;

/** Ways to end an active message, which frees its permit. */
const ENDS: Record<string, Step> = {
  'is handled': (queue, claim) => queue.settle(claim, { kind: 'ack' }),
  'becomes a dead letter': (queue, claim) => queue.settle(claim, { kind: 'dead', error: '{}' }),
  'is redelivered by again()': (queue, claim) => queue.settle(claim, { kind: 'again', delay: HOUR }),
  'is deferred': (queue, claim) => queue.settle(claim, { kind: 'defer', delay: HOUR }),
  'is aborted': (queue, { id }) => queue.store.abort(id),
  'is replaced': (queue, { id }) => queue.offer(id, { after: HOUR }, { onDuplicate: 'replace' }),
  'moves to another group when it is replaced': (queue, { id }) =>
    queue.offer(id, { after: HOUR }, { onDuplicate: 'replace', group: 'elsewhere' }),
  'is handled and replaced by its follower': async (queue, claim) => {
    await queue.offer(claim.id, { after: HOUR }, { onDuplicate: 'follow' });
    await queue.settle(claim, { kind: 'ack' });
  },
  'becomes a dead letter and is replaced by its follower': async (queue, claim) => {
    await queue.offer(claim.id, { after: HOUR }, { onDuplicate: 'follow' });
    await queue.settle(claim, { kind: 'dead', error: '{}' });
  },
  'is aborted and replaced by its follower': async (queue, { id }) => {
    await queue.offer(id, { after: HOUR }, { onDuplicate: 'follow' });
    await queue.store.abort(id);
  },
};

/** Ways to end a message's wait for its retry, which frees its permit. */
const ENDS_OF_WAIT: Record<string, (queue: GroupedQueue, id: string) => Promise<unknown>> = {
  'is cancelled': (queue, id) => queue.store.cancel(id),
  'is replaced': (queue, id) => queue.offer(id, { after: HOUR }, { onDuplicate: 'replace' }),
};

/** Ways to make an active message ready again, which keeps its permit. */
const RETURNS: Record<string, Step> = {
  'is released': (queue, claim) => queue.settle(claim, { kind: 'release' }),
  'loses its lease': async (queue, claim) => {
    await queue.store.extend([claim], SHORT_LEASE);
    await queue.queue.advance(SHORT_LEASE + 1);
    await queue.queue.transferSomething();
  },
  'is unknown to its consumer': async (queue, { token }) => {
    await queue.store.extend([{ id: 'nobody', token }], HOUR);
  },
  'belongs to a claim whose response was lost': (queue, { token }) =>
    queue.store.claim({ token: queue.queue.newToken(), supersedes: token, limit: 0, lease: HOUR }),
};

/** For stores with groups; `limits.groups` says which rules they have. */
export function describeGroups(name: string, openQueue: OpenQueue, { canBeDamaged = false } = {}): void {
  describe(`${name} with groups`, () => {
    const queues = new ContractQueues(openQueue);
    const open = async (groups: GroupRules, limits: Partial<StoreLimits> = {}) =>
      new GroupedQueue(await queues.open({ ...limits, groups }));

    describe.each([
      ['1', 1],
      ['2', 2],
      ['3', 3],
      ['unlimited', null],
    ])('with concurrency %s', (_concurrency, concurrency) => {
      const most = concurrency ?? Infinity;

      it('at most that many messages of a group are active at once across all processes', async () => {
        const queue = await open({ concurrency, onRetry: 'hold' });
        await queue.makeReady('a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2');
        const claims = [...(await queue.claim(2)), ...(await queue.queue.claim(1000, HOUR, queue.queue.secondView))];
        expect(idsOf(claims).filter((id) => id.startsWith('a'))).toHaveLength(Math.min(5, most));
        expect(idsOf(claims).filter((id) => id.startsWith('b'))).toHaveLength(Math.min(2, most));
        expect(await queue.take()).toEqual([]);
        expect((await queue.store.status()).counts).toEqual({
          delayed: 0,
          ready: 7 - claims.length,
          active: claims.length,
          dead: 0,
        });
      });

      it('a claim that takes as many messages of a group as may be active reports that there are no more', async () => {
        const queue = await open({ concurrency, onRetry: 'hold' });
        await queue.makeReady('a1', 'a2', 'a3', 'a4', 'a5');
        const token = queue.queue.newToken();
        const { messages, more } = await queue.store.claim({ token, limit: 10, lease: HOUR });
        expect(messages).toHaveLength(Math.min(5, most));
        expect(more).toBe(false);
      });

      it('messages of a group are claimed in order of due time, then in offer order', async () => {
        const queue = await open({ concurrency, onRetry: 'hold' });
        const longAgo = Math.floor(await queue.queue.now()) - HOUR;
        const due = { a5: 2, a1: 1, a9: 0, a3: 1, a2: 1, a7: 2, a4: 2, a0: 3 };
        for (const [id, at] of Object.entries(due)) await queue.offer(id, { at: longAgo + at });
        await queue.queue.transfer();
        expect(await queue.handleAll(1)).toEqual(['a9', 'a1', 'a3', 'a2', 'a5', 'a7', 'a4', 'a0']);
      });

      it('messages of a group due at the same instant are claimed in offer order, even if one call offers them', async () => {
        const queue = await open({ concurrency, onRetry: 'hold' });
        const ids = ['a4', 'a2', 'b1', 'a9', 'a1', 'a7'];
        const offers = ids.map((id) => ofGroup({ id, due: { after: 0 }, onDuplicate: 'keep', body: 'J' }, id[0]!));
        await queue.store.offer(offers);
        await queue.queue.advance(2);
        await queue.queue.transfer(2);
        await queue.queue.transferAll(3);
        const handled = await queue.handleAll(3);
        expect(handled.filter((id) => id !== 'b1')).toEqual(['a4', 'a2', 'a9', 'a1', 'a7']);
      });

      it.each([1, 3, 10])(
        'groups are served round-robin: with claims of %i, each waits for about one message of every other ready group',
        async (limit) => {
          const queue = await open({ concurrency, onRetry: 'hold' });
          // A power law: the first group has as many messages as all others together.
          const sizes = [60, 20, 10, 6, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1];
          const ids = sizes.flatMap((size, group) =>
            Array.from({ length: size }, (_, i) => `${String.fromCharCode(97 + group)}${i}`),
          );
          await queue.makeReady(...ids);
          const turns = (await queue.handleAll(limit)).map((id) => id[0]!);
          expect(turns).toHaveLength(ids.length);
          expect(new Set(turns.slice(0, sizes.length)).size).toBe(sizes.length);
          for (const group of new Set(turns)) {
            const places = turns.flatMap((each, place) => (each === group ? [place] : []));
            for (const [i, place] of places.slice(1).entries()) {
              const between = turns.slice(places[i]! + 1, place);
              // A claim takes the ready groups in turn; groups whose permits it frees follow in the next claim.
              expect(between.length).toBeLessThanOrEqual(new Set(between).size + limit - 1);
            }
          }
        },
      );

      it('nothing is left once all messages are handled, whatever happened to them', async () => {
        const queue = await open({ concurrency, onRetry: 'hold' });
        for (const end of Object.values(ENDS)) {
          await queue.makeReady('a1', 'a2', 'b1', 'c1', 'c2', 'c3');
          const [first, ...others] = await queue.claim(3);
          await end(queue, first!);
          await queue.store.settle(others.map((claim) => ({ claim, outcome: { kind: 'retry', delay: 0 } as const })));
          for (const id of ['a1', 'a2', 'b1', 'c1', 'c2', 'c3']) await queue.store.cancel(id);
          await queue.queue.advance(2);
          await queue.queue.transfer();
          await queue.handleAll(2);
          await queue.store.discard({ oldest: 1000 });
        }
        expect(await queue.queue.leftovers()).toEqual([]);
      });
    });

    describe('a group with one permit', () => {
      it.each(Object.keys(ENDS))(
        'a message that %s frees its permit for the next one and wakes a consumer',
        async (end) => {
          const queue = await open(ONE_HELD);
          const claim = await queue.begin('a1', 'a2', 'a3');
          expect(await queue.take()).toEqual([]);
          const signal = await queue.silentSignal();
          await ENDS[end]!(queue, claim);
          expect(await signal.wait(HOUR)).toBe(true);
          expect(await queue.take()).toEqual(['a2']);
          expect(await queue.take()).toEqual([]);
        },
      );

      it('a message that dies when its last lease expires frees its permit for the next one', async () => {
        const queue = await open(ONE_HELD, { attempts: 1 });
        await queue.makeReady('a1', 'a2', 'a3');
        await queue.claim(1, SHORT_LEASE);
        await queue.queue.advance(SHORT_LEASE + 1);
        expect(await queue.queue.transferSomething()).toMatchObject({ deadLettered: ['a1'], ready: 1 });
        expect(await queue.take()).toEqual(['a2']);
        expect(await queue.take()).toEqual([]);
      });

      it('a message replaced by its follower when its last lease expires frees its permit for the next one', async () => {
        const queue = await open(ONE_HELD, { attempts: 1 });
        await queue.makeReady('a1', 'a2', 'a3');
        await queue.claim(1, SHORT_LEASE);
        await queue.offer('a1', { after: HOUR }, { onDuplicate: 'follow', group: 'b' });
        await queue.queue.advance(SHORT_LEASE + 1);
        await queue.queue.transferSomething();
        expect(await queue.take()).toEqual(['a2']);
        expect(await queue.queue.stateOf('a1')).toBe('delayed');
      });

      it.each(Object.keys(RETURNS))(
        'a message that %s keeps its permit and is claimed first again',
        async (comesBack) => {
          const queue = await open(ONE_HELD);
          const claim = await queue.begin('a1', 'a2');
          await RETURNS[comesBack]!(queue, claim);
          const [again, ...others] = await queue.claim();
          expect([again?.id, others]).toEqual(['a1', []]);
          await queue.settle(again, { kind: 'ack' });
          expect(await queue.take()).toEqual(['a2']);
          expect(await queue.take()).toEqual([]);
        },
      );

      it('messages and their permits pass to the claim that replaces theirs', async () => {
        const queue = await open(ONE_HELD);
        await queue.makeReady('a1', 'b1', 'a2', 'b2');
        const [{ token }] = (await queue.claim()) as [Claim];
        const next = queue.queue.newToken();
        const { messages } = await queue.store.claim({ token: next, supersedes: token, limit: 1, lease: HOUR });
        expect(idsOf(messages)).toEqual(['a1']);
        expect(await queue.take()).toEqual(['b1']);
        expect(await queue.take()).toEqual([]);
      });

      it.each(Object.keys(ENDS_OF_WAIT))(
        'a message that waits for its retry frees its permit for the next one when it %s',
        async (end) => {
          const queue = await open(ONE_HELD);
          await queue.beginHeld('a1', 'a2', 'a3');
          const signal = await queue.silentSignal();
          await ENDS_OF_WAIT[end]!(queue, 'a1');
          expect(await signal.wait(HOUR)).toBe(true);
          expect(await queue.take()).toEqual(['a2']);
          expect(await queue.take()).toEqual([]);
        },
      );

      it('a message that waits for its retry is not overtaken, even by one with an earlier due time', async () => {
        const queue = await open(ONE_HELD);
        await queue.beginHeld('a1', 'a2');
        await queue.offer('a0', { at: 1 });
        await queue.queue.transfer();
        expect(await queue.take()).toEqual([]);
        await queue.store.reschedule('a1', { after: 0 });
        expect(await queue.take()).toEqual([]);
        await queue.queue.transferSomething();
        const [retried, ...others] = await queue.claim();
        expect([retried?.id, others]).toEqual(['a1', []]);
        await queue.settle(retried, { kind: 'ack' });
        expect(await queue.handleAll(1)).toEqual(['a2', 'a0']);
      });

      it('a message that waits for its retry keeps its permit when it is rescheduled or changed', async () => {
        const queue = await open(ONE_HELD);
        await queue.beginHeld('a1', 'a2');
        expect(await queue.store.reschedule('a1', { after: 2 * HOUR })).toBe(true);
        expect(await queue.take()).toEqual([]);
        const { body } = await queue.queue.find('a1');
        const to = wrapGroup(Buffer.from('J"changed"'), 'a');
        expect(await queue.store.change!('a1', { due: { at: 1 }, from: body, to })).toBe('changed');
        await queue.queue.transfer();
        expect(await queue.take()).toEqual(['a1']);
        expect(await queue.take()).toEqual([]);
      });

      it('with onRetry pass, other messages overtake a message that waits for its retry, which joins them once due', async () => {
        const queue = await open(ONE_PASSED);
        const claim = await queue.begin('a1', 'a2', 'a3');
        const signal = await queue.silentSignal();
        await queue.settle(claim, { kind: 'retry', delay: 0 });
        expect(await signal.wait(HOUR)).toBe(true);
        const [second] = await queue.claim();
        expect(second?.id).toBe('a2');
        await queue.queue.transferSomething();
        expect(await queue.take()).toEqual([]);
        await queue.settle(second, { kind: 'ack' });
        expect(await queue.handleAll(1)).toEqual(['a3', 'a1']);
      });

      it('a ready message that is replaced frees its permit for the next one and wakes a consumer', async () => {
        const queue = await open(ONE_HELD);
        await queue.makeReady('a1', 'a2', 'a3');
        const signal = await queue.silentSignal();
        await queue.offer('a1', { after: HOUR }, { onDuplicate: 'replace' });
        expect(await signal.wait(HOUR)).toBe(true);
        expect(await queue.take()).toEqual(['a2']);
        expect(await queue.take()).toEqual([]);
      });

      it('a message that is replaced in the backlog frees no permit and is skipped', async () => {
        const queue = await open(ONE_HELD);
        const claim = await queue.begin('a1', 'a2', 'a3', 'a4');
        await queue.offer('a2', { after: HOUR }, { onDuplicate: 'replace' });
        await queue.offer('a3', { at: 1 }, { onDuplicate: 'replace' });
        await queue.queue.transfer();
        expect(await queue.take()).toEqual([]);
        await queue.settle(claim, { kind: 'ack' });
        expect(await queue.handleAll(5)).toEqual(['a4', 'a3']);
        expect(await queue.queue.stateOf('a2')).toBe('delayed');
      });

      it('replacing a message that has left the backlog does not remove anything from the backlog', async () => {
        const queue = await open(ONE_HELD);
        const first = await queue.begin('a1', 'a2');
        await queue.settle(first, { kind: 'ack' });
        const [second] = await queue.claim();
        await queue.settle(second, { kind: 'defer', delay: 0 });
        await queue.queue.transferSomething();
        await queue.makeReady('a3', 'a4');
        await queue.offer('a2', { after: HOUR }, { onDuplicate: 'replace' });
        expect(await queue.handleAll(1)).toEqual(['a3', 'a4']);
      });

      it('a backlog in which more than a thousand messages were replaced still yields the next message', async () => {
        const queue = await open(ONE_HELD);
        const many = Array.from({ length: 1200 }, (_, i) => `a${i}`);
        const claim = await queue.begin('a', ...many, 'a last');
        await queue.queue.transferAll(1000);
        for (let first = 0; first < many.length; first += 100) {
          const offers = many
            .slice(first, first + 100)
            .map((id) => ofGroup({ id, due: { after: HOUR }, onDuplicate: 'replace', body: 'J' }, 'a'));
          await queue.store.offer(offers);
        }
        await queue.settle(claim, { kind: 'ack' });
        expect(await queue.take()).toEqual(['a last']);
      });

      it('a delayed message that is cancelled, rescheduled or replaced frees no permit unless it held one', async () => {
        const queue = await open(ONE_HELD);
        await queue.begin('a1', 'a2');
        for (const id of ['a3', 'a4', 'a5']) await queue.offer(id, { after: HOUR });
        await queue.store.cancel('a3');
        await queue.store.reschedule('a4', { after: 2 * HOUR });
        await queue.offer('a5', { after: HOUR }, { onDuplicate: 'replace' });
        expect(await queue.take()).toEqual([]);
      });

      it('a message frees only one permit, even if it is settled twice, aborted and replaced', async () => {
        const queue = await open(ONE_HELD);
        const claim = await queue.begin('a1', 'a2', 'a3');
        const twice = [claim, claim].map((each) => ({ claim: each, outcome: { kind: 'ack' } as const }));
        expect((await queue.store.settle(twice)).accepted).toEqual([true, false]);
        expect(await queue.settle(claim, { kind: 'ack' })).toBe(false);
        expect(await queue.store.abort('a1')).toBe(false);
        await queue.offer('a1', { after: HOUR }, { onDuplicate: 'replace' });
        expect(await queue.take()).toEqual(['a2']);
        expect(await queue.take()).toEqual([]);
      });

      it('a late outcome of a claim that lost its lease frees no permit', async () => {
        const queue = await open(ONE_HELD);
        const lost = await queue.begin('a1', 'a2');
        await RETURNS['loses its lease']!(queue, lost);
        const [again] = await queue.claim();
        expect(again?.id).toBe('a1');
        for (const kind of ['ack', 'release'] as const) expect(await queue.settle(lost, { kind })).toBe(false);
        expect(await queue.settle(lost, { kind: 'retry', delay: HOUR })).toBe(false);
        expect(await queue.store.extend([lost], HOUR)).toEqual([lost]);
        expect(await queue.take()).toEqual([]);
        expect(await queue.settle(again, { kind: 'ack' })).toBe(true);
        expect(await queue.take()).toEqual(['a2']);
      });

      it('a follower in another group does not use the permit of its predecessor', async () => {
        const queue = await open(ONE_HELD);
        const claim = await queue.begin('a1', 'a2');
        await queue.offer('a1', { at: 1 }, { onDuplicate: 'follow', group: 'b' });
        await queue.settle(claim, { kind: 'ack' });
        await queue.makeReady('b2');
        expect((await queue.take()).sort()).toEqual(['a1', 'a2']);
        expect(await queue.take()).toEqual([]);
        expect(await queue.store.abort('a1')).toBe(true);
        expect(await queue.take()).toEqual(['b2']);
      });

      it('a redriven message waits for a permit, and a discarded one frees none', async () => {
        const queue = await open(ONE_HELD);
        const claim = await queue.begin('a1', 'a2', 'a3');
        await queue.settle(claim, { kind: 'dead', error: '{}' });
        const [second] = await queue.claim();
        await queue.settle(second, { kind: 'dead', error: '{}' });
        expect(await queue.take()).toEqual(['a3']);
        expect(await queue.store.redrive({ id: 'a1' })).toBe(1);
        await queue.makeReady('a4');
        expect(await queue.store.discard({ id: 'a2' })).toBe(1);
        expect(await queue.take()).toEqual([]);
        expect(await queue.store.abort('a3')).toBe(true);
        const rest = await queue.handleAll(1);
        expect([...rest].sort()).toEqual(['a1', 'a4']);
        expect(await queue.queue.leftovers()).toEqual([]);
      });

      it.each(Object.entries(ENDS))(
        'a paused queue wakes nobody and returns no message of the group when one %s, and both follow once it is resumed',
        async (_end, end) => {
          const queue = await open(ONE_HELD);
          const claim = await queue.begin('a1', 'a2', 'a3');
          await queue.store.pause();
          const signal = await queue.silentSignal();
          await end(queue, claim);
          expect(await queue.isWoken(signal)).toBe(false);
          expect(await queue.take()).toEqual([]);
          await queue.store.resume();
          expect(await signal.wait(HOUR)).toBe(true);
          expect(await queue.take()).toEqual(['a2']);
          expect(await queue.take()).toEqual([]);
        },
      );

      it('clear frees each permit once, and later outcomes do not free any', async () => {
        const queue = await open(ONE_HELD);
        await queue.beginHeld('a1', 'a2');
        const old = await queue.begin('b1', 'b2');
        expect(await queue.store.clear()).toBe(4);
        expect(await queue.queue.leftovers()).toEqual([]);
        await queue.makeReady('a3', 'a4', 'b3', 'b4');
        expect(await queue.take()).toEqual(['a3', 'b3']);
        expect(await queue.settle(old, { kind: 'ack' })).toBe(false);
        expect(await queue.store.cancel('a1')).toBe(false);
        expect(await queue.take()).toEqual([]);
      });

      it('a message that becomes a dead letter after its last retry frees its permit for the next one', async () => {
        const queue = await open(ONE_HELD, { attempts: 2 });
        const claim = await queue.begin('a1', 'a2');
        await queue.settle(claim, { kind: 'retry', delay: 0 });
        await queue.queue.transferSomething();
        const [again] = await queue.claim();
        await queue.settle(again, { kind: 'dead', error: '{}' });
        expect(await queue.take()).toEqual(['a2']);
      });

      it('groups do not wait for each other', async () => {
        const queue = await open(ONE_HELD);
        await queue.beginHeld('a1', 'a2');
        await queue.makeReady('b1', 'c1', 'b2');
        expect(await queue.take()).toEqual(['b1', 'c1']);
      });

      it('a call that settles messages of several groups frees a permit in each group', async () => {
        const queue = await open(ONE_HELD);
        await queue.makeReady('a1', 'b1', 'c1', 'd1', 'a2', 'b2', 'c2', 'd2');
        const [a, b, c, d] = await queue.claim();
        const outcomes: Outcome[] = [
          { kind: 'ack' },
          { kind: 'retry', delay: HOUR },
          { kind: 'release' },
          { kind: 'defer', delay: HOUR },
        ];
        const claims = [a, b, c, d].map(defined);
        await queue.store.settle(claims.map((claim, i) => ({ claim, outcome: outcomes[i]! })));
        expect((await queue.take()).sort()).toEqual(['a2', 'c1', 'd2']);
        expect(await queue.take()).toEqual([]);
      });
    });

    describe('a group with two permits', () => {
      const twoHeld: GroupRules = { concurrency: 2, onRetry: 'hold' };

      it.each(Object.keys(ENDS))('a message that %s frees one permit', async (end) => {
        const queue = await open(twoHeld);
        const claim = await queue.begin('a1', 'a2', 'a3', 'a4', 'a5');
        expect(await queue.take()).toEqual(['a2']);
        await ENDS[end]!(queue, claim);
        expect(await queue.take()).toEqual(['a3']);
        expect(await queue.take()).toEqual([]);
      });

      it.each(Object.keys(ENDS_OF_WAIT))(
        'a message that waits for its retry frees one permit when it %s',
        async (end) => {
          const queue = await open(twoHeld);
          const claim = await queue.begin('a1', 'a2', 'a3', 'a4', 'a5');
          await queue.settle(claim, { kind: 'retry', delay: HOUR });
          expect(await queue.take()).toEqual(['a2']);
          await ENDS_OF_WAIT[end]!(queue, 'a1');
          expect(await queue.take()).toEqual(['a3']);
          expect(await queue.take()).toEqual([]);
        },
      );

      it('a message that waits for its retry leaves the other permit to the rest of the group', async () => {
        const queue = await open(twoHeld);
        const claim = await queue.begin('a1', 'a2', 'a3', 'a4');
        await queue.settle(claim, { kind: 'retry', delay: HOUR });
        const [second, ...none] = await queue.claim();
        expect([second?.id, none]).toEqual(['a2', []]);
        await queue.settle(second, { kind: 'ack' });
        expect(await queue.take()).toEqual(['a3']);
        expect(await queue.take()).toEqual([]);
        await queue.store.cancel('a1');
        expect(await queue.take()).toEqual(['a4']);
      });

      it.each(Object.keys(RETURNS))('a message that %s does not give its group an extra turn', async (comesBack) => {
        const queue = await open(twoHeld);
        const claim = await queue.begin('a1', 'a2', 'a3', 'a4', 'b1', 'b2');
        await RETURNS[comesBack]!(queue, claim);
        const [one, other] = [...(await queue.claim(1)), ...(await queue.claim(1)), ...(await queue.claim(1))].sort(
          (a, b) => (a.id < b.id ? -1 : 1),
        );
        expect([one?.id, other?.id]).toEqual(['a1', 'a2']);
        expect(await queue.take()).toEqual(['b2']);
        await queue.settle(one, { kind: 'ack' });
        expect(await queue.take()).toEqual(['a3']);
      });
    });

    describe('lists of groups', () => {
      it('a group is listed with the permits in use and the length of its backlog', async () => {
        const queue = await open(ONE_HELD);
        expect(await backlogsOf(queue)).toEqual({});
        await queue.makeReady('a1', 'a2', 'a3', 'b1');
        expect(await backlogsOf(queue)).toEqual({ a: [1, 2, ['a1']], b: [1, 0, ['b1']] });
        const [a1, b1] = await queue.claim();
        expect(await backlogsOf(queue)).toEqual({ a: [1, 2, ['a1']], b: [1, 0, ['b1']] });
        await queue.settle(b1, { kind: 'ack' });
        await queue.settle(a1, { kind: 'retry', delay: HOUR });
        await queue.offer('c1', { after: HOUR });
        expect(await backlogsOf(queue)).toEqual({ a: [1, 2, ['a1']] });
        await queue.store.cancel('a1');
        expect(await backlogsOf(queue)).toEqual({ a: [1, 1, ['a2']] });
      });

      it('a group with several permits has one ready message with a permit at a time', async () => {
        const queue = await open({ concurrency: 2, onRetry: 'pass' });
        await queue.makeReady('a1', 'a2', 'a3', 'a4');
        expect(await backlogsOf(queue)).toEqual({ a: [1, 3, ['a1']] });
        await queue.take(1);
        expect(await backlogsOf(queue)).toEqual({ a: [2, 2, ['a1', 'a2']] });
        await queue.take();
        expect(await backlogsOf(queue)).toEqual({ a: [2, 2, ['a1', 'a2']] });
      });

      it('many groups are listed in several steps, each with its messages', async () => {
        const queue = await open({ concurrency: null, onRetry: 'hold' });
        const offers = Array.from({ length: 1000 }, (_, i) =>
          ofGroup({ id: `m${i}`, due: { at: 1 }, onDuplicate: 'reject', body: 'J1' }, `group ${i % 600}`),
        );
        await queue.store.offer(offers);
        await queue.queue.transfer();
        await queue.take(300);
        const backlogs = Object.values(await backlogsOf(queue));
        expect(backlogs).toHaveLength(600);
        expect(backlogs.reduce((sum, [holding, waiting]) => sum + holding + waiting, 0)).toBe(1000);
        for (const [holding, , holders] of backlogs) expect(holders).toHaveLength(holding);
      });
    });

    it("many ready messages in a group delay another group's message by at most one message", async () => {
      const queue = await open({ concurrency: null, onRetry: 'hold' });
      await queue.makeReady(...Array.from({ length: 500 }, (_, i) => `a${i}`));
      await queue.claim(10);
      await queue.makeReady('b1');
      expect([...(await queue.take(1)), ...(await queue.take(1))]).toContain('b1');
    });

    if (canBeDamaged) describeDamage(open);
  });
}

/** The repair of a queue from which somebody has deleted something. */
function describeDamage(open: (groups: GroupRules, limits?: Partial<StoreLimits>) => Promise<GroupedQueue>): void {
  describe('after its data was damaged', () => {
    it('a message without a record frees its permit when it is claimed', async () => {
      const queue = await open(ONE_HELD);
      await queue.makeReady('a1', 'a2');
      await queue.queue.lose('a1');
      const { messages, orphans } = await queue.store.claim({ token: 't', limit: 5, lease: HOUR });
      expect([idsOf(messages), orphans]).toEqual([[], ['a1']]);
      expect(await queue.handleAll(5)).toEqual(['a2']);
      expect(await queue.queue.leftovers()).toEqual([]);
    });

    it('an active message or one waiting for a retry frees its permit when it ends, even without its record', async () => {
      const queue = await open(ONE_HELD);
      const claim = await queue.begin('a1', 'a2');
      await queue.queue.lose('a1');
      await queue.settle(claim, { kind: 'retry', delay: HOUR });
      expect(await queue.take()).toEqual(['a2']);
      await queue.beginHeld('b1', 'b2');
      await queue.queue.lose('b1');
      await queue.store.cancel('b1');
      expect(await queue.take()).toEqual(['b2']);
    });

    it('a repair restores lost permit counts', async () => {
      const queue = await open({ concurrency: 2, onRetry: 'hold' });
      const held = await queue.begin('a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3');
      await queue.settle(held, { kind: 'retry', delay: HOUR });
      expect(await queue.take(2)).toHaveLength(2);
      await queue.queue.damage('permits');
      await queue.store.repair(30_000);
      // Each group has at most one permit left: a1 waits for its retry, a2 and b1 are active.
      expect(await queue.take()).toEqual(['b2']);
      expect(await queue.take()).toEqual([]);
      await queue.store.cancel('a1');
      expect(await queue.take()).toEqual(['a3']);
      expect(await queue.take()).toEqual([]);
      for (const id of ['a2', 'b1', 'b2']) expect(await queue.store.abort(id)).toBe(true);
      expect((await queue.handleAll(1)).sort()).toEqual(['a4', 'b3']);
      expect(await queue.store.abort('a3')).toBe(true);
      expect(await queue.queue.leftovers()).toEqual([]);
    });

    it('a repair makes a group claimable again if its counts are lost while it has no active messages', async () => {
      const queue = await open(ONE_HELD);
      await queue.begin('a1', 'a2', 'a3');
      await queue.queue.lose('a1');
      for (const part of ['permits', 'claims']) await queue.queue.damage(part);
      const signal = await queue.silentSignal();
      await queue.store.repair(30_000);
      expect(await signal.wait(HOUR)).toBe(true);
      expect(await queue.handleAll(5)).toEqual(['a2', 'a3']);
    });

    it.each(['ready', 'line', 'claims'])(
      "messages orphaned by the loss of the key '%s' become ready again, one per group at a time",
      async (part) => {
        const queue = await open(ONE_HELD);
        await queue.begin('a1', 'a2', 'a3');
        await queue.makeReady('b1', 'b2', 'c1');
        await queue.queue.damage(part);
        for (let cursor: string | null = ''; cursor !== null;) {
          const report = await queue.store.repair(30_000, cursor);
          ({ cursor } = report);
        }
        await queue.store.repair(30_000);
        const first = await queue.take();
        expect(first.map((id) => id[0]).sort()).toEqual(part === 'claims' ? ['a', 'b', 'c'] : ['b', 'c']);
        for (const id of ['a1', ...first]) await queue.store.abort(id);
        await queue.handleAll(1);
        expect((await queue.store.status()).counts).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
        // Leases of claims that are gone end by themselves.
        const left = await queue.queue.leftovers();
        expect(left.filter((key) => !key.endsWith(':leases'))).toEqual([]);
      },
    );
  });
}
