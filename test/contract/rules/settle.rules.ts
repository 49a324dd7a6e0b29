import { describe, expect, it } from '@jest/globals';
import type { Claim, Outcome } from '../../../lib/store/consumer-store.js';
import { type ContractQueue, type ContractQueues, defined, HOUR, SHORT_LEASE } from '../contract-queue.js';

const OUTCOMES: Outcome[] = [
  { kind: 'ack' },
  { kind: 'retry', delay: 1 },
  { kind: 'defer', delay: 1 },
  { kind: 'again', delay: 1 },
  { kind: 'again', delay: 1, body: 'J"late"' },
  { kind: 'release' },
  { kind: 'dead', error: 'late' },
  { kind: 'defer', delay: 1, body: 'J"late"' },
  { kind: 'retry', delay: 1, body: 'J"late"' },
  { kind: 'dead', error: 'late', body: 'J"late"' },
];

/** The ways in which a consumer loses its claim to message `a`. */
const LOSSES: Record<string, (queue: ContractQueue) => Promise<Claim>> = {
  'is ready again': async (queue) => {
    const [claim] = await queue.makeActive(['a'], SHORT_LEASE);
    await queue.advance(SHORT_LEASE + 1);
    await queue.transfer();
    return defined(claim);
  },
  'is held by another claim': async (queue) => {
    const [claim] = await queue.makeActive(['a'], SHORT_LEASE);
    await queue.advance(SHORT_LEASE + 1);
    await queue.transfer();
    await queue.claim();
    return defined(claim);
  },
  'was replaced': async (queue) => {
    const [claim] = await queue.makeActive(['a']);
    await queue.offer('a', { after: HOUR }, { onDuplicate: 'replace' });
    return defined(claim);
  },
  'was replaced and claimed': async (queue) => {
    const [claim] = await queue.makeActive(['a']);
    await queue.offer('a', { at: 0 }, { onDuplicate: 'replace' });
    await queue.transfer();
    await queue.claim();
    return defined(claim);
  },
  'was cleared': async (queue) => {
    const [claim] = await queue.makeActive(['a']);
    await queue.store.clear();
    return defined(claim);
  },
  'was cleared and offered again': async (queue) => {
    const [claim] = await queue.makeActive(['a']);
    await queue.store.clear();
    await queue.offer('a', { after: HOUR });
    return defined(claim);
  },
  'was acknowledged': async (queue) => {
    const [claim] = await queue.makeActive(['a']);
    await queue.settle(claim, { kind: 'ack' });
    return defined(claim);
  },
  'was deferred': async (queue) => {
    const [claim] = await queue.makeActive(['a']);
    await queue.settle(claim, { kind: 'defer', delay: HOUR });
    return defined(claim);
  },
  'is dead': async (queue) => {
    const [claim] = await queue.makeActive(['a']);
    await queue.settle(claim, { kind: 'dead', error: 'in time' });
    return defined(claim);
  },
};

export function describeSettlements(queues: ContractQueues): void {
  describe('outcomes', () => {
    it.each(['defer', 'again'] as const)(
      'a message settled with %s at an instant is due at exactly that instant',
      async (kind) => {
        const queue = await queues.open();
        const [claim] = await queue.makeActive(['a']);
        const at = Math.floor(await queue.now()) + HOUR;
        expect(await queue.settle(claim, { kind, at } as Outcome)).toBe(true);
        expect(await queue.find('a')).toMatchObject({ state: 'delayed', dueAt: at, failedAttempts: 0 });
      },
    );

    it('an acknowledged message is gone, and its id is free', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      expect(await queue.settle(claim, { kind: 'ack' })).toBe(true);
      expect(await queue.stateOf('a')).toBeNull();
      expect((await queue.store.status()).counts).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
      expect(await queue.offer('a', { after: HOUR })).toMatchObject({ outcome: 'created' });
      expect(await queue.find('a')).toMatchObject({ failedAttempts: 0 });
    });

    it.each([
      ['retry', 1],
      ['defer', 0],
    ] as const)('a message settled with %s is delayed again, with %d attempts spent', async (kind, failedAttempts) => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      const { offeredAt, body } = await queue.find('a');
      const before = Math.floor(await queue.now());
      expect(await queue.settle(claim, { kind, delay: HOUR } as Outcome)).toBe(true);
      const after = Math.ceil(await queue.now());

      const message = await queue.find('a');
      expect(message).toMatchObject({ state: 'delayed', failedAttempts, offeredAt, leasedUntil: null });
      expect(message.body.equals(body)).toBe(true);
      expect(message.dueAt).toBeGreaterThanOrEqual(before + HOUR);
      expect(message.dueAt).toBeLessThanOrEqual(after + HOUR);
      expect(await queue.transfer()).toMatchObject({ moved: 0, nextAt: message.dueAt });
      expect(await queue.store.cancel('a')).toBe(true);
    });

    it.each([
      ['the same content', undefined],
      ['content given as a string', 'J"once more"'],
      ['content given as bytes', Buffer.from('J"once\nmore\0"')],
      // Codecs of Redisson's layout may write it.
      ['an empty body', ''],
    ])('a message settled with again becomes a new message with its old id and %s', async (_, body) => {
      const queue = await queues.open();
      await queue.makeReady('a');
      await queue.settle((await queue.claim())[0], { kind: 'retry', delay: 0 });
      await queue.transferSomething();
      const [claim] = await queue.claim();
      const { body: bodyBefore } = await queue.find('a');
      await queue.advance(2);
      const before = Math.floor(await queue.now());
      expect(await queue.settle(claim, { kind: 'again', delay: HOUR, ...(body !== undefined && { body }) })).toBe(true);
      const after = Math.ceil(await queue.now());

      const message = await queue.find('a');
      expect(message).toMatchObject({ state: 'delayed', failedAttempts: 0, leasedUntil: null });
      expect(message.body.toString()).toBe((body ?? bodyBefore).toString());
      expect(message.offeredAt).toBeGreaterThanOrEqual(before);
      expect(message.offeredAt).toBeLessThanOrEqual(after);
      expect(message.dueAt).toBeGreaterThanOrEqual(before + HOUR);
      expect(message.dueAt).toBeLessThanOrEqual(after + HOUR);
      expect(await queue.transfer()).toMatchObject({ moved: 0, nextAt: message.dueAt });
      expect((await queue.store.status()).counts).toEqual({ delayed: 1, ready: 0, active: 0, dead: 0 });
      expect(await queue.store.cancel('a')).toBe(true);
      expect(await queue.offer('a', { after: HOUR })).toMatchObject({ outcome: 'created' });
      expect(await queue.find('a')).toMatchObject({ failedAttempts: 0 });
    });

    it('each message settled with again has its own delay and content', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b', 'c', 'd');
      const [a, b, c, d] = (await queue.claim()).map(defined);
      await queue.store.settle([
        { claim: defined(a), outcome: { kind: 'again', delay: HOUR, body: 'J"of a"' } },
        { claim: defined(b), outcome: { kind: 'retry', delay: 2 * HOUR } },
        { claim: defined(c), outcome: { kind: 'again', delay: 3 * HOUR, body: 'J"of c"' } },
        { claim: defined(d), outcome: { kind: 'again', delay: 4 * HOUR } },
      ]);
      const found = await Promise.all(['a', 'b', 'c', 'd'].map((id) => queue.find(id)));
      expect(found.map(({ failedAttempts }) => failedAttempts)).toEqual([0, 1, 0, 0]);
      expect(found[0]!.body.toString()).toBe('J"of a"');
      expect(found[2]!.body.toString()).toBe('J"of c"');
      expect(found.map(({ dueAt }) => Math.round((dueAt - found[0]!.dueAt) / HOUR))).toEqual([0, 1, 2, 3]);
    });

    it('settles messages of a claim in any order, each once, and leaves it the others', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b', 'c', 'd', 'e', 'f');
      const [a, b, c, d, e] = await queue.claim(5);
      const [f] = await queue.claim();
      const retry = (claim: Claim | undefined) =>
        ({ claim: defined(claim), outcome: { kind: 'retry', delay: HOUR } }) as const;
      const ack = (claim: Claim | undefined) => ({ claim: defined(claim), outcome: { kind: 'ack' } }) as const;
      const first = await queue.store.settle([retry(d), ack(a), retry(b), retry(d), ack(f), ack(d)]);
      expect(first.accepted).toEqual([true, true, true, false, true, false]);
      expect((await queue.store.status()).counts).toMatchObject({ delayed: 2, active: 2 });
      const second = await queue.store.settle([ack(e), retry(a), ack(c), retry(e)]);
      expect(second.accepted).toEqual([true, false, true, false]);
      expect((await queue.store.status()).counts).toMatchObject({ delayed: 2, ready: 0, active: 0 });
    });

    it('released messages become ready again, unchanged and ahead of all others', async () => {
      const queue = await queues.open();
      await queue.makeReady('a', 'b', 'c', 'd');
      const claims = await queue.claim(3);
      const before = await queue.find('b');
      const signal = queue.openWakeSignal();
      const { accepted } = await queue.store.settle(claims.map((claim) => ({ claim, outcome: { kind: 'release' } })));
      expect(accepted).toEqual([true, true, true]);
      expect(await queue.find('b')).toEqual({ ...before, state: 'ready', leasedUntil: null });
      expect(await signal.wait(HOUR)).toBe(true);
      const { messages } = await queue.store.claim({ token: 'again', limit: 4, lease: HOUR });
      expect(messages.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
    });

    it('a retry spends an attempt and a deferral does not, however often they alternate', async () => {
      const queue = await queues.open({ attempts: 10 });
      await queue.makeReady('a');
      let failed = 0;
      for (const kind of ['retry', 'defer', 'retry', 'retry', 'defer'] as const) {
        const token = queue.newToken();
        const { messages } = await queue.store.claim({ token, limit: 1, lease: HOUR });
        expect(messages).toMatchObject([{ id: 'a', failedAttempts: failed }]);
        await queue.settle({ id: 'a', token }, { kind, delay: 0 } as Outcome);
        failed += kind === 'retry' ? 1 : 0;
        await queue.transferSomething();
      }
      expect(await queue.find('a')).toMatchObject({ state: 'ready', failedAttempts: failed });
    });

    it('a message settled as dead becomes a dead letter with its error and one more attempt spent', async () => {
      const queue = await queues.open();
      const [claim] = await queue.makeActive(['a']);
      const { dueAt, offeredAt, body } = await queue.find('a');
      const before = Math.floor(await queue.now());
      const { accepted, dropped } = await queue.store.settle([
        { claim: defined(claim), outcome: { kind: 'dead', error: '{"name":"Ünglück"}' } },
      ]);
      expect({ accepted, dropped }).toEqual({ accepted: [true], dropped: 0 });
      expect(await queue.find('a')).toMatchObject({ state: 'dead', failedAttempts: 1, leasedUntil: null });

      const letters = await queue.dead();
      expect(letters).toMatchObject([
        { id: 'a', failedAttempts: 1, dueAt, offeredAt, death: { error: '{"name":"Ünglück"}' } },
      ]);
      const [letter] = letters;
      expect(letter?.body.equals(body)).toBe(true);
      expect(letter?.death?.at).toBeGreaterThanOrEqual(before);
      expect(letter?.death?.at).toBeLessThanOrEqual(await queue.now());
    });

    it.each([
      ['defer', 'a string', 'J"anew"'],
      ['defer', 'bytes', Buffer.from('J"anew\nand\0"')],
      ['dead', 'a string', 'J"anew"'],
      ['dead', 'bytes', Buffer.from('J"anew\nand\0"')],
    ] as const)(
      'a message settled with %s can get a new body, given as %s, and others keep theirs',
      async (kind, _, body) => {
        const queue = await queues.open();
        const claims = await queue.makeActive(['a', 'b']);
        const before = await queue.find('a');
        const outcome: Outcome = kind === 'dead' ? { kind, error: '{"name":"E"}', body } : { kind, delay: HOUR, body };
        await queue.store.settle([
          { claim: defined(claims[0]), outcome },
          { claim: defined(claims[1]), outcome: kind === 'dead' ? { kind, error: '{}' } : { kind, delay: HOUR } },
        ]);
        const message = await queue.find('a');
        expect(message.body.equals(Buffer.from(body))).toBe(true);
        expect(message).toMatchObject({ offeredAt: before.offeredAt, failedAttempts: kind === 'dead' ? 1 : 0 });
        if (kind === 'dead') expect(message.dueAt).toBe(before.dueAt);
        expect((await queue.find('b')).body.toString()).not.toContain('anew');
        const letters = await queue.dead();
        expect(letters.map(({ id, death }) => [id, death?.error])).toEqual(
          kind === 'dead'
            ? [
                ['a', '{"name":"E"}'],
                ['b', '{}'],
              ]
            : [],
        );
      },
    );

    it('one call settles many claims, each with its own outcome, and reports which were still held', async () => {
      const queue = await queues.open();
      const [acked, retried, deferred, died, lost] = (await queue.makeActive(['a', 'b', 'c', 'd', 'e'])).map(defined);
      await queue.settle(lost, { kind: 'ack' });
      const report = await queue.store.settle([
        { claim: defined(acked), outcome: { kind: 'ack' } },
        { claim: defined(lost), outcome: { kind: 'ack' } },
        { claim: defined(retried), outcome: { kind: 'retry', delay: HOUR } },
        { claim: defined(acked), outcome: { kind: 'retry', delay: HOUR } },
        { claim: defined(deferred), outcome: { kind: 'defer', delay: HOUR } },
        { claim: { id: 'd', token: 'wrong' }, outcome: { kind: 'ack' } },
        { claim: defined(died), outcome: { kind: 'dead', error: 'x' } },
        { claim: defined(died), outcome: { kind: 'ack' } },
      ]);
      expect(report).toEqual({ accepted: [true, false, true, false, true, false, true, false], dropped: 0 });
      expect(await queue.stateOf('a')).toBeNull();
      expect(await queue.find('b')).toMatchObject({ state: 'delayed', failedAttempts: 1 });
      expect(await queue.find('c')).toMatchObject({ state: 'delayed', failedAttempts: 0 });
      expect(await queue.find('d')).toMatchObject({ state: 'dead', failedAttempts: 1 });
      expect((await queue.store.status()).counts).toEqual({ delayed: 2, ready: 0, active: 0, dead: 1 });
      expect(await queue.store.settle([])).toEqual({ accepted: [], dropped: 0 });
    });

    it('the other messages of a claim stay held when some are settled, even if one id contains another', async () => {
      const queue = await queues.open();
      const ids = ['a', 'aa', ' a', 'a a', '%a', 'b'];
      await queue.makeReady(...ids);
      const claims = await queue.claim();
      const ack = async (...chosen: string[]) => {
        const settlements = chosen.map((id) => claims.find((claim) => claim.id === id)).map(defined);
        return (await queue.store.settle(settlements.map((claim) => ({ claim, outcome: { kind: 'ack' } })))).accepted;
      };
      expect(await ack('b', 'aa')).toEqual([true, true]);
      expect(await ack('a', 'aa', 'a')).toEqual([true, false, false]);
      expect((await queue.store.status()).counts).toMatchObject({ active: 3 });
      for (const id of [' a', 'a a', '%a']) expect(await queue.stateOf(id)).toBe('active');
      expect(await ack(' a', 'a a')).toEqual([true, true]);
      expect(await ack('%a')).toEqual([true]);
      expect((await queue.store.status()).counts).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    });

    it('only one of many concurrent outcomes of a claim is accepted', async () => {
      const queue = await queues.open();
      const [claim] = (await queue.makeActive(['a'])).map(defined);
      const settlements = [...OUTCOMES, ...OUTCOMES].map((outcome, index) =>
        (index % 2 === 0 ? queue.store : queue.secondView).settle([{ claim: defined(claim), outcome }]),
      );
      const accepted = (await Promise.all(settlements)).flatMap((report) => report.accepted);
      expect(accepted.filter(Boolean)).toHaveLength(1);
    });

    describe.each(Object.entries(LOSSES))('for a claim whose message %s', (_, lose) => {
      it.each(OUTCOMES.map((outcome) => [JSON.stringify(outcome), outcome] as const))(
        'a late outcome %s is rejected and changes nothing',
        async (__, outcome) => {
          const queue = await queues.open();
          const claim = await lose(queue);
          const before = await queue.look('a');
          expect(await queue.settle(claim, outcome)).toBe(false);
          expect(await queue.look('a')).toEqual(before);
        },
      );
    });
  });
}
