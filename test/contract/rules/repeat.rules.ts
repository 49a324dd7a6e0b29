import { describe, expect, it } from '@jest/globals';
import { PAUSED_UNTIL, type RepeatRule } from '../../../lib/message/repeat-rule.js';
import { unwrapPutOff, wrapPutOff } from '../../../lib/message/codec/body-forms.js';
import type { Outcome } from '../../../lib/store/consumer-store.js';
import type { OfferReceipt } from '../../../lib/store/producer-store.js';
import type { MessageState } from '../../../lib/message/message.js';
import { until } from '../../support/until.js';
import { type ContractQueue, type ContractQueues, defined, HOUR, SHORT_LEASE } from '../contract-queue.js';
import { listen } from '../listen.js';

const DAILY: RepeatRule = { cron: '0 9 * * *', timeZone: 'UTC', missed: 'once' };
const HOURLY: RepeatRule = { ...DAILY, cron: '0 * * * *' };
const COUNTED: RepeatRule = { every: HOUR, missed: 'once', limit: 5 };

/** For stores whose messages can repeat. */
export function describeRepeating(queues: ContractQueues): void {
  const bodyOf = (queue: ContractQueue, repeat: RepeatRule | undefined, payload: unknown = 'digest') =>
    queue.codec.encode({ type: '', payload, headers: {}, repeat });
  const repeat = async (queue: ContractQueue, rule: RepeatRule, at: number, payload?: unknown) => {
    const body = bodyOf(queue, rule, payload);
    return defined((await queue.store.offer([{ id: 'a', due: { at }, onDuplicate: 'repeat', body }]))[0]);
  };
  const soon = async (queue: ContractQueue) => Math.floor(await queue.now()) + HOUR;
  const makeIn = async (queue: ContractQueue, state: MessageState, rule = DAILY) => {
    const at = state === 'delayed' ? await soon(queue) : 1_000_000;
    await repeat(queue, rule, at);
    if (state === 'delayed') return undefined;
    await queue.transfer();
    if (state === 'ready') return undefined;
    const [claim] = await queue.claim();
    if (state === 'dead') await queue.settle(claim, { kind: 'dead', error: '{"e":1}' });
    return claim;
  };
  const contentOf = async (queue: ContractQueue, id = 'a') => queue.codec.decode((await queue.find(id)).body);
  const counts = async (queue: ContractQueue) => (await queue.store.status()).counts;
  const handled = (at: number): Outcome => ({ kind: 'ack', next: { at } });
  const failed = (at: number): Outcome => ({
    kind: 'dead',
    error: '{"name":"E"}',
    next: { at, letter: '{a}@1', failedAttempts: 2 },
  });
  const OUTCOMES = [
    ['is handled', handled],
    ['dies', failed],
  ] as const;

  describe('a repeating message', () => {
    it('is delivered again at its next time after an occurrence is handled, with all attempts and no longer put off', async () => {
      const queue = await queues.open();
      const first = await makeIn(queue, 'active');
      await queue.settle(first, { kind: 'retry', delay: 0, body: wrapPutOff((await queue.find('a')).body, 1) });
      await queue.transferSomething();
      const [claim] = await queue.claim();
      const at = await soon(queue);
      const before = Math.floor(await queue.now());
      expect(await queue.settle(claim, handled(at))).toBe(true);
      const message = await queue.find('a');
      expect(message).toMatchObject({ state: 'delayed', dueAt: at, failedAttempts: 0, leasedUntil: null });
      expect(message.offeredAt).toBeGreaterThanOrEqual(before);
      expect(message.body.toString()).toBe(bodyOf(queue, DAILY));
      expect(await queue.settle(claim, handled(at))).toBe(false);
      expect(await counts(queue)).toEqual({ delayed: 1, ready: 0, active: 0, dead: 0 });
    });

    it('is delivered again after an occurrence dies, which leaves a dead letter that does not repeat', async () => {
      const queue = await queues.open();
      const first = await makeIn(queue, 'active');
      await queue.settle(first, { kind: 'retry', delay: 0, body: wrapPutOff((await queue.find('a')).body, 1) });
      await queue.transferSomething();
      const [claim] = await queue.claim();
      const { dueAt, offeredAt } = await queue.find('a');
      const at = await soon(queue);
      expect(await queue.settle(claim, failed(at))).toBe(true);
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: at, failedAttempts: 0 });
      expect(await contentOf(queue)).toMatchObject({ payload: 'digest', repeat: DAILY });
      const [letter] = await queue.dead();
      expect(letter).toMatchObject({ id: '{a}@1', state: 'dead', failedAttempts: 2, dueAt, offeredAt });
      expect(letter!.death).toMatchObject({ error: '{"name":"E"}' });
      expect(letter!.body.toString()).toBe(bodyOf(queue, undefined));
      expect(await queue.store.redrive({ id: '{a}@1' })).toBe(1);
      expect(await counts(queue)).toEqual({ delayed: 2, ready: 0, active: 0, dead: 0 });
    });

    it('drops the dead letters of its occurrences beyond maxDeadLetters', async () => {
      const queue = await queues.open({ maxDeadLetters: 0 });
      const claim = await makeIn(queue, 'active');
      const { dropped } = await queue.store.settle([{ claim: defined(claim), outcome: failed(await soon(queue)) }]);
      expect(dropped).toBe(1);
      expect(await counts(queue)).toEqual({ delayed: 1, ready: 0, active: 0, dead: 0 });
    });

    it("does not leave a dead letter for an occurrence if that dead letter's id is in use", async () => {
      const queue = await queues.open();
      await queue.offer('{a}@1', { after: HOUR });
      const claim = await makeIn(queue, 'active');
      expect(await queue.settle(claim, failed(await soon(queue)))).toBe(true);
      expect(await queue.stateOf('{a}@1')).toBe('delayed');
      expect(await queue.stateOf('a')).toBe('delayed');
      expect(await queue.dead()).toEqual([]);
    });

    it('can be settled in the same call as messages that do not repeat', async () => {
      const queue = await queues.open();
      const repeating = await makeIn(queue, 'active');
      const [acked, dead] = await queue.makeActive(['b', 'c']);
      const at = await soon(queue);
      const settlements = [
        { claim: defined(acked), outcome: { kind: 'ack' } as const },
        { claim: defined(repeating), outcome: failed(at) },
        { claim: defined(dead), outcome: { kind: 'dead', error: '{"e":2}' } as const },
      ];
      expect((await queue.store.settle(settlements)).accepted).toEqual([true, true, true]);
      expect(await queue.stateOf('b')).toBeNull();
      expect((await queue.dead()).map(({ id }) => id).sort()).toEqual(['c', '{a}@1']);
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: at });
    });

    it('is announced if its next occurrence is due earliest', async () => {
      const queue = await queues.open();
      const claim = await makeIn(queue, 'active');
      const { dueTimes, stop } = await listen(queue, queue.secondView);
      const at = await soon(queue);
      await queue.settle(claim, handled(at));
      await until(() => dueTimes.length > 0);
      expect(dueTimes).toEqual([at]);
      stop();
    });

    it.each(OUTCOMES)(
      'is not settled by a claim that no longer holds it when the occurrence %s',
      async (_outcome, outcome) => {
        const queue = await queues.open();
        const claim = await makeIn(queue, 'active');
        await queue.offer('a', { after: HOUR }, { onDuplicate: 'replace' });
        const before = await queue.look('a', '{a}@1');
        expect(await queue.settle(claim, outcome(await soon(queue)))).toBe(false);
        expect(await queue.look('a', '{a}@1')).toEqual(before);
      },
    );

    it('becomes ready after its last lease expires, so that a consumer can settle it with its next time', async () => {
      const queue = await queues.open({ attempts: 1 });
      await repeat(queue, DAILY, 1_000_000);
      await queue.offerDue('b');
      await queue.transfer();
      await queue.claim(2, SHORT_LEASE);
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.transferSomething()).toMatchObject({ recovered: 1, deadLettered: ['b'], ready: 1 });
      expect(await queue.find('a')).toMatchObject({ state: 'ready', failedAttempts: 1 });
      expect((await queue.dead()).map(({ id }) => id)).toEqual(['b']);
      const [claim] = await queue.claim();
      expect(await queue.settle(claim, failed(await soon(queue)))).toBe(true);
      expect((await queue.dead()).find(({ id }) => id === '{a}@1')).toMatchObject({ failedAttempts: 2 });
    });

    it('becomes ready after its last lease expires even if it was put off', async () => {
      const queue = await queues.open({ attempts: 1 });
      const first = await makeIn(queue, 'active');
      await queue.settle(first, { kind: 'defer', delay: 0, body: wrapPutOff((await queue.find('a')).body, 1) });
      await queue.transferSomething();
      await queue.claim(1, SHORT_LEASE);
      await queue.advance(SHORT_LEASE + 1);
      expect(await queue.transferSomething()).toMatchObject({ recovered: 1, deadLettered: [] });
      expect(await queue.stateOf('a')).toBe('ready');
    });

    it('stays unchanged when the same rule and payload are offered, whatever its state', async () => {
      for (const state of ['delayed', 'ready', 'active'] as const) {
        const queue = await queues.open();
        await makeIn(queue, state);
        const before = await queue.look('a');
        const { dueAt } = await queue.find('a');
        expect(await repeat(queue, DAILY, (await soon(queue)) + 1)).toEqual({ outcome: 'kept', dueAt });
        expect(await queue.look('a')).toEqual(before);
      }
    });

    it.each<[string, (queue: ContractQueue, at: number) => Promise<OfferReceipt>]>([
      ['rule', (queue, at) => repeat(queue, HOURLY, at)],
      ['payload', (queue, at) => repeat(queue, DAILY, at, 'another')],
    ])('is replaced and moved by a new %s while it is delayed', async (_, change) => {
      const queue = await queues.open();
      await makeIn(queue, 'delayed');
      const at = (await soon(queue)) - HOUR / 2;
      expect(await change(queue, at)).toEqual({ outcome: 'replaced', dueAt: at });
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: at });
      expect(await counts(queue)).toEqual({ delayed: 1, ready: 0, active: 0, dead: 0 });
    });

    it('is still handled if it is already due when it gets a new rule, by which it then repeats', async () => {
      const queue = await queues.open();
      await makeIn(queue, 'ready');
      const { dueAt } = await queue.find('a');
      expect(await repeat(queue, HOURLY, await soon(queue))).toEqual({ outcome: 'kept', dueAt });
      expect(await queue.find('a')).toMatchObject({ state: 'ready', dueAt });
      expect(await contentOf(queue)).toMatchObject({ repeat: HOURLY });
    });

    it('is still handled if it waits for its retry when it gets a new rule, and keeps the time at which it was first due', async () => {
      const queue = await queues.open();
      const first = await makeIn(queue, 'active');
      await queue.settle(first, { kind: 'retry', delay: HOUR, body: wrapPutOff((await queue.find('a')).body, 7) });
      const { dueAt } = await queue.find('a');
      expect(await repeat(queue, HOURLY, await soon(queue))).toEqual({ outcome: 'kept', dueAt });
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt, failedAttempts: 1 });
      expect((await queue.find('a')).body.toString()).toBe(`W7\n${bodyOf(queue, HOURLY).toString()}`);
    });

    it('is still handled if it is overdue but not yet ready when it gets a new rule', async () => {
      const queue = await queues.open();
      await repeat(queue, DAILY, 1_000_000);
      expect(await repeat(queue, HOURLY, await soon(queue))).toEqual({ outcome: 'kept', dueAt: 1_000_000 });
      expect(await contentOf(queue)).toMatchObject({ repeat: HOURLY });
    });

    it.each(OUTCOMES)('adopts a new rule after its active occurrence, which %s', async (_outcome, outcome) => {
      const queue = await queues.open();
      const claim = await makeIn(queue, 'active');
      const at = await soon(queue);
      expect(await repeat(queue, HOURLY, at)).toMatchObject({ outcome: 'followed' });
      expect(await contentOf(queue)).toMatchObject({ repeat: DAILY });
      const before = await queue.look('a');
      expect(await repeat(queue, HOURLY, at + 1)).toMatchObject({ outcome: 'kept' });
      expect(await queue.look('a')).toEqual(before);
      expect(await queue.settle(claim, outcome(at + 2))).toBe(true);
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: at });
      expect(await contentOf(queue)).toMatchObject({ repeat: HOURLY });
      expect(await queue.dead()).toHaveLength(outcome === failed ? 1 : 0);
    });

    it('is still handled if it falls due in the very millisecond in which it gets a new rule', async () => {
      const queue = await queues.open();
      const from = Math.floor(await queue.now());
      const offers = (rule: RepeatRule, dueAt: (i: number) => number) =>
        Array.from({ length: 1000 }, (_, i) => ({
          ...{ id: `${i}`, due: { at: dueAt(i) }, onDuplicate: 'repeat' as const, body: bodyOf(queue, rule) },
        }));
      await queue.store.offer(offers(DAILY, (i) => from + i));
      const later = await soon(queue);
      const last = { id: 'now', due: { after: 0 }, onDuplicate: 'keep' as const, body: bodyOf(queue, undefined) };
      const receipts = await queue.store.offer([...offers(HOURLY, () => later), last]);
      const { offeredAt } = await queue.find('now');
      expect(receipts.filter(({ outcome }) => outcome === 'kept')).toHaveLength(Math.min(1000, offeredAt - from + 1));
    });

    it('keeps its earlier rule if that is offered again last', async () => {
      const queue = await queues.open();
      const claim = await makeIn(queue, 'active');
      await repeat(queue, HOURLY, await soon(queue));
      const at = await soon(queue);
      expect(await repeat(queue, DAILY, at)).toMatchObject({ outcome: 'followed' });
      await queue.settle(claim, handled(at + 1));
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: at });
      expect(await contentOf(queue)).toMatchObject({ repeat: DAILY });
    });

    it.each(['delayed', 'ready', 'active'] as const)(
      'rejects a new rule for an instant that has passed while it is %s',
      async (state) => {
        const queue = await queues.open();
        await makeIn(queue, state);
        const before = await queue.look('a');
        const past = Math.floor(await queue.now()) - 1;
        expect(await repeat(queue, HOURLY, past)).toMatchObject({ outcome: 'rejected' });
        expect(await queue.look('a')).toEqual(before);
      },
    );

    it('replaces a dead letter with the same id', async () => {
      const queue = await queues.open();
      await makeIn(queue, 'dead');
      const at = await soon(queue);
      expect(await repeat(queue, DAILY, at)).toEqual({ outcome: 'replaced', dueAt: at });
      expect(await counts(queue)).toEqual({ delayed: 1, ready: 0, active: 0, dead: 0 });
    });

    it('replaces a delayed message that did not repeat', async () => {
      const queue = await queues.open();
      await queue.offer('a', { after: HOUR });
      const at = await soon(queue);
      expect(await repeat(queue, DAILY, at)).toEqual({ outcome: 'replaced', dueAt: at });
      expect(await contentOf(queue)).toMatchObject({ repeat: DAILY });
    });

    it('takes into account earlier offers in the same call', async () => {
      const queue = await queues.open();
      const at = await soon(queue);
      const offer = (rule: RepeatRule) => ({
        id: 'a',
        due: { at },
        onDuplicate: 'repeat' as const,
        body: bodyOf(queue, rule),
      });
      const receipts = await queue.store.offer([offer(DAILY), offer(HOURLY)]);
      expect(receipts.map(({ outcome }) => outcome)).toEqual(['created', 'replaced']);
      expect(await contentOf(queue)).toMatchObject({ repeat: HOURLY });
    });

    it('is removed by cancel while it is delayed', async () => {
      const queue = await queues.open();
      await makeIn(queue, 'delayed');
      expect(await queue.store.cancel('a')).toBe(true);
      expect(await queue.stateOf('a')).toBeNull();
    });

    it.each(OUTCOMES)(
      'is ended by cancel while it is active, after the current occurrence, which %s',
      async (_outcome, outcome) => {
        const queue = await queues.open();
        const claim = await makeIn(queue, 'active');
        await repeat(queue, HOURLY, await soon(queue));
        expect(await queue.store.cancel('a')).toBe(true);
        expect(await queue.stateOf('a')).toBe('active');
        expect(await queue.store.cancel('a')).toBe(false);
        expect(await queue.settle(claim, outcome(await soon(queue)))).toBe(true);
        expect(await queue.stateOf('a')).toBeNull();
        const letters = outcome === failed ? 1 : 0;
        expect(await counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: letters });
        expect(await queue.store.clear()).toBe(letters);
        expect(await queue.leftovers()).toEqual([]);
      },
    );

    it.each<[string, (body: Buffer) => Outcome]>([
      ['a retry', (body) => ({ kind: 'retry', delay: 0, body: wrapPutOff(body, 1) })],
      ['a deferral', (body) => ({ kind: 'defer', delay: 0, body: wrapPutOff(body, 1) })],
      ['another payload', (body) => ({ kind: 'again', delay: 0, body })],
    ])('does not regain its rule through %s after it was cancelled while active', async (_what, outcome) => {
      const queue = await queues.open();
      const claim = await makeIn(queue, 'active');
      const { body } = await queue.find('a');
      await queue.store.cancel('a');
      expect(await queue.settle(claim, outcome(body))).toBe(true);
      const content = queue.codec.decode(unwrapPutOff((await queue.find('a')).body).body);
      expect([content.repeat, content.payload]).toEqual([undefined, 'digest']);
      await queue.transferSomething();
      const [again] = await queue.claim();
      await queue.settle(again, { kind: 'ack' });
      expect(await queue.stateOf('a')).toBeNull();
    });

    it('can start again after it was cancelled while active', async () => {
      const queue = await queues.open();
      const claim = await makeIn(queue, 'active');
      await queue.store.cancel('a');
      const at = await soon(queue);
      expect(await repeat(queue, DAILY, at)).toMatchObject({ outcome: 'followed' });
      await queue.settle(claim, handled(at + 1));
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: at });
    });

    it('is ended by cancel while it is ready, after the current occurrence', async () => {
      const queue = await queues.open();
      await makeIn(queue, 'ready');
      expect(await queue.store.cancel('a')).toBe(true);
      const [claim] = await queue.claim();
      expect((await contentOf(queue)).repeat).toBeUndefined();
      await queue.settle(claim, { kind: 'ack' });
      expect(await queue.stateOf('a')).toBeNull();
    });

    it('is left unchanged by cancel while it is a dead letter', async () => {
      const queue = await queues.open();
      await makeIn(queue, 'dead');
      const before = await queue.look('a');
      expect(await queue.store.cancel('a')).toBe(false);
      expect(await queue.look('a')).toEqual(before);
    });

    it('is removed for good by abort while it is active', async () => {
      const queue = await queues.open();
      const claim = await makeIn(queue, 'active');
      expect(await queue.store.abort('a')).toBe(true);
      expect(await queue.settle(claim, handled(await soon(queue)))).toBe(false);
      expect(await counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    });

    it('loses on abort the new rule that was to follow its active occurrence', async () => {
      const queue = await queues.open();
      const claim = await makeIn(queue, 'active');
      const at = await soon(queue);
      expect(await repeat(queue, HOURLY, at)).toMatchObject({ outcome: 'followed' });
      expect(await queue.store.abort('a')).toBe(true);
      expect(await queue.settle(claim, handled(at))).toBe(false);
      expect(await counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
      // Nothing is left that would follow the next message of this id.
      await queue.offer('a', { after: 0 });
      await queue.transferSomething();
      const [next] = await queue.claim();
      await queue.settle(next, { kind: 'ack' });
      expect(await counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    });

    it('is replaced on abort by a follower without a rule', async () => {
      const queue = await queues.open();
      await makeIn(queue, 'active');
      await queue.offer('a', { after: HOUR }, { onDuplicate: 'follow', payload: 'follower' });
      expect(await queue.store.abort('a')).toBe(true);
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', failedAttempts: 0 });
      const { payload, repeat } = await contentOf(queue);
      expect([payload, repeat]).toEqual(['follower', undefined]);
    });

    it('keeps its rule when again() moves an occurrence', async () => {
      const queue = await queues.open();
      const claim = await makeIn(queue, 'active');
      const at = await soon(queue);
      await queue.settle(claim, { kind: 'again', at });
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: at });
      expect(await contentOf(queue)).toMatchObject({ repeat: DAILY });
    });

    it('keeps its progress when the same rule is offered, and begins anew with another', async () => {
      const queue = await queues.open();
      await repeat(queue, COUNTED, 1_000_000);
      await queue.transfer();
      const [claim] = await queue.claim();
      await queue.settle(claim, { kind: 'ack', next: { at: await soon(queue), count: 1 } });
      expect(await contentOf(queue)).toMatchObject({ repeat: { ...COUNTED, count: 1 } });
      const at = await soon(queue);
      expect(await repeat(queue, COUNTED, at)).toMatchObject({ outcome: 'kept' });
      expect(await contentOf(queue)).toMatchObject({ repeat: { ...COUNTED, count: 1 } });
      expect(await repeat(queue, { ...COUNTED, limit: 9 }, at)).toEqual({ outcome: 'replaced', dueAt: at });
      expect((await contentOf(queue)).repeat).toEqual({ ...COUNTED, limit: 9, count: 0 });
    });

    it.each<[string, Outcome]>([
      ['a retry', { kind: 'retry', delay: 0 }],
      ['its next time', { kind: 'ack', next: { at: 1_000_000 } }],
    ])('keeps its count through %s', async (_, outcome) => {
      const queue = await queues.open();
      const claim = await makeIn(queue, 'active', { ...COUNTED, count: 4 } as RepeatRule);
      await queue.settle(claim, outcome);
      expect((await contentOf(queue)).repeat).toEqual({ ...COUNTED, count: 4 });
    });

    it('is gone after its last occurrence is handled, and leaves only a dead letter if that dies', async () => {
      for (const outcome of [handled, failed]) {
        const queue = await queues.open();
        const claim = await makeIn(queue, 'active', COUNTED);
        const { next, ...rest } = outcome(0) as Extract<Outcome, { kind: 'dead' }>;
        expect(await queue.settle(claim, { ...rest, next: { ...next!, at: null } })).toBe(true);
        const letters = outcome === failed ? 1 : 0;
        expect(await counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: letters });
        if (outcome === failed) expect((await contentOf(queue, '{a}@1')).repeat).toBeUndefined();
        expect(await queue.store.clear()).toBe(letters);
        expect(await queue.leftovers()).toEqual([]);
      }
    });

    it('leaves its place to a new rule that was offered during its last occurrence', async () => {
      const queue = await queues.open();
      const claim = await makeIn(queue, 'active', COUNTED);
      const at = await soon(queue);
      await repeat(queue, HOURLY, at);
      await queue.settle(claim, { kind: 'ack', next: { at: null } });
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: at });
      expect((await contentOf(queue)).repeat).toEqual(HOURLY);
    });
  });

  describe('a paused repetition', () => {
    const pause = (queue: ContractQueue) => queue.secondView.pauseRepeat!('a', {});
    const resume = async (queue: ContractQueue, at: number) =>
      queue.secondView.pauseRepeat!('a', { resume: { at, from: (await queue.find('a')).body } });
    const isPaused = async (queue: ContractQueue) => (await contentOf(queue)).repeat?.isPaused ?? false;

    it.each([DAILY, COUNTED])('has no due time until it is resumed, and is then as before (%j)', async (rule) => {
      const queue = await queues.open();
      await makeIn(queue, 'delayed', rule);
      const { body } = await queue.find('a');
      expect(await pause(queue)).toBe('changed');
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: PAUSED_UNTIL });
      expect(await isPaused(queue)).toBe(true);
      expect(await pause(queue)).toBe('kept');
      const { dueTimes, stop } = await listen(queue, queue.secondView);
      const at = await soon(queue);
      expect(await resume(queue, at)).toBe('changed');
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: at, body });
      expect(await resume(queue, at + 1)).toBe('kept');
      await until(() => dueTimes.length > 0);
      expect(dueTimes).toEqual([at]);
      stop();
    });

    it('is also that of a message that is overdue, but not of one that is not there, dead, or does not repeat', async () => {
      const queue = await queues.open();
      expect(await pause(queue)).toBe('absent');
      await queue.offer('a', { after: HOUR });
      expect(await pause(queue)).toBe('absent');
      await repeat(queue, DAILY, 1_000_000 + (await soon(queue)));
      await queue.store.reschedule('a', { at: 1_000_000 });
      expect(await pause(queue)).toBe('changed');
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: PAUSED_UNTIL });
      const other = await queues.open();
      await makeIn(other, 'dead');
      const before = await other.look('a');
      expect(await pause(other)).toBe('absent');
      expect(await other.look('a')).toEqual(before);
    });

    it.each<[string, (at: number, body: Buffer) => Outcome]>([
      ['is handled', handled],
      ['dies', failed],
      ['is retried and then handled', () => ({ kind: 'retry', delay: 0 })],
      ['is retried with its first due time', (_, body) => ({ kind: 'retry', delay: 0, body: wrapPutOff(body, 7) })],
      ['comes again with another payload', (_, body) => ({ kind: 'again', delay: 0, body })],
    ])('lasts beyond the end of the active occurrence, which %s', async (_, outcome) => {
      const queue = await queues.open();
      const claim = await makeIn(queue, 'active');
      const { body } = await queue.find('a');
      expect(await pause(queue)).toBe('changed');
      expect(await queue.find('a')).toMatchObject({ state: 'active' });
      expect(await queue.settle(claim, outcome(await soon(queue), body))).toBe(true);
      expect((await contentOf(queue)).repeat).toEqual({ ...DAILY, isPaused: true });
      if ((await queue.find('a')).dueAt < PAUSED_UNTIL) {
        await queue.transferSomething();
        const [again] = await queue.claim();
        await queue.settle(again, handled(await soon(queue)));
      }
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: PAUSED_UNTIL, failedAttempts: 0 });
      expect(await isPaused(queue)).toBe(true);
    });

    it('that was resumed during the active occurrence ends with it', async () => {
      for (const outcome of [handled, failed]) {
        const queue = await queues.open();
        const claim = await makeIn(queue, 'active', COUNTED);
        await pause(queue);
        expect(await resume(queue, 1)).toBe('changed');
        expect(await queue.find('a')).toMatchObject({ state: 'active', dueAt: 1_000_000 });
        const at = await soon(queue);
        await queue.settle(claim, outcome(at));
        expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: at });
        expect(await isPaused(queue)).toBe(false);
      }
    });

    it('does not move an occurrence that is ready, or waits for its retry', async () => {
      const queue = await queues.open();
      await makeIn(queue, 'ready');
      expect(await pause(queue)).toBe('changed');
      expect(await queue.find('a')).toMatchObject({ state: 'ready', dueAt: 1_000_000 });
      const [claim] = await queue.claim();
      await queue.settle(claim, { kind: 'retry', delay: HOUR });
      await resume(queue, 5);
      expect(await pause(queue)).toBe('changed');
      const { dueAt } = await queue.find('a');
      expect(dueAt).toBeLessThan(PAUSED_UNTIL);
      expect(await resume(queue, 5)).toBe('changed');
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt, failedAttempts: 1 });
    });

    it('is kept by a new rule, whatever the state', async () => {
      for (const state of ['delayed', 'ready', 'active'] as const) {
        const queue = await queues.open();
        const claim = await makeIn(queue, state);
        await pause(queue);
        const at = await soon(queue);
        expect(await repeat(queue, DAILY, at)).toMatchObject({ outcome: 'kept' });
        await repeat(queue, COUNTED, at);
        expect(await repeat(queue, COUNTED, at)).toMatchObject({ outcome: 'kept' });
        if (state === 'ready') {
          const [ready] = await queue.claim();
          await queue.settle(ready, handled(at));
        }
        if (claim) await queue.settle(claim, handled(at));
        expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: PAUSED_UNTIL });
        expect((await contentOf(queue)).repeat).toEqual({ ...COUNTED, count: 0, isPaused: true });
        expect(await resume(queue, at)).toBe('changed');
        expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: at });
      }
    });

    it('is also that of the new rule that waits for the end of the active occurrence', async () => {
      const queue = await queues.open();
      const claim = await makeIn(queue, 'active');
      await repeat(queue, HOURLY, await soon(queue));
      await pause(queue);
      await queue.settle(claim, handled(await soon(queue)));
      expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: PAUSED_UNTIL });
      expect((await contentOf(queue)).repeat).toEqual({ ...HOURLY, isPaused: true });
    });

    it('is not resumed by somebody who has read another rule', async () => {
      const queue = await queues.open();
      await makeIn(queue, 'delayed');
      await pause(queue);
      const { body } = await queue.find('a');
      await repeat(queue, HOURLY, await soon(queue));
      const before = await queue.look('a');
      expect(await queue.store.pauseRepeat!('a', { resume: { at: 1, from: body } })).toBe('stale');
      expect(await queue.look('a')).toEqual(before);
    });

    it('is ended by cancel', async () => {
      const queue = await queues.open();
      await makeIn(queue, 'delayed');
      await pause(queue);
      expect(await queue.store.cancel('a')).toBe(true);
      expect(await queue.store.clear()).toBe(0);
      expect(await queue.leftovers()).toEqual([]);
      const other = await queues.open();
      await makeIn(other, 'ready');
      await pause(other);
      expect(await other.store.cancel('a')).toBe(true);
      expect((await other.find('a')).body.toString()).toBe(bodyOf(other, undefined));
    });
  });
}
