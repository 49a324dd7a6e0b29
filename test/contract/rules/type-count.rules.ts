import { describe, expect, it } from '@jest/globals';
import type { MessageBody } from '../../../lib/message/codec/message-codec.js';
import { wrapPutOff } from '../../../lib/message/codec/body-forms.js';
import type { MessageCounts, MessageState } from '../../../lib/message/message.js';
import { type ContractQueue, type ContractQueues, HOUR, numberedIds } from '../contract-queue.js';

type CountsByType = Readonly<Record<string, Partial<MessageCounts>>>;

export function describeTypeCounts(queues: ContractQueues): void {
  describe('counts by type', () => {
    it("each type's messages are counted in each state", async () => {
      const queue = await queues.open();
      await queue.offer('dead', { at: 0 }, { type: 'remind' });
      await queue.transfer();
      await queue.settle((await queue.claim())[0], { kind: 'dead', error: 'x' });
      await queue.offer('active', { at: 0 }, { type: 'remind' });
      await queue.transfer();
      await queue.claim();
      await queue.offer('ready 1', { at: 0 }, { type: 'cancel' });
      await queue.offer('ready 2', { at: 0 });
      await queue.transfer();
      await queue.offer('delayed 1', { after: HOUR }, { type: 'cancel' });
      await queue.offer('delayed 2', { after: HOUR }, { type: 'remind' });
      await queue.offer('delayed 3', { after: HOUR }, { type: 'remind' });

      await expectCounts(queue, {
        '': { ready: 1 },
        cancel: { delayed: 1, ready: 1 },
        remind: { delayed: 2, active: 1, dead: 1 },
      });
    });

    it('a queue without messages has no types, and a type without messages is not counted', async () => {
      const queue = await queues.open();
      await expectCounts(queue, {});
      await queue.offer('a', { after: HOUR }, { type: 'remind' });
      await queue.store.cancel('a');
      await expectCounts(queue, {});
    });

    it('dead letters and redriven messages keep their type', async () => {
      const queue = await queues.open();
      await queue.offer('a', { at: 0 }, { type: 'remind' });
      await queue.transfer();
      await queue.settle((await queue.claim())[0], { kind: 'dead', error: 'x' });
      await expectCounts(queue, { remind: { dead: 1 } });
      await queue.store.redrive({ id: 'a' });
      await expectCounts(queue, { remind: { delayed: 1 } });
    });

    it('every message of a long queue is counted once', async () => {
      const queue = await queues.open({ maxDeadLetters: 2000 });
      const count = 601;
      for (const state of ['dead', 'active', 'ready', 'delayed'] as const) await makeMany(queue, state, count);
      const each = { delayed: count, ready: count, active: count, dead: count };
      await expectCounts(queue, { remind: each, '': each });
    });

    it.each(Object.entries(bodiesOfType('a.b:c-d_e')))('the type of %s is counted', async (_, body) => {
      const queue = await queues.open();
      await offerBody(queue, body);
      await expectCounts(queue, { 'a.b:c-d_e': { delayed: 1 } });
    });

    it.each(Object.entries(WITHOUT_TYPE))('%s has no type', async (_, body) => {
      const queue = await queues.open();
      await offerBody(queue, body);
      await expectCounts(queue, { '': { delayed: 1 } });
    });
  });
}

function bodiesOfType(type: string): Record<string, MessageBody> {
  return {
    JSON: `K${type}\n{"a":"\\n"}`,
    bytes: Buffer.from(`C${type}\nx\n`),
    'JSON with headers': `k${type}\n{"h":"1"}\n{}`,
    'bytes with headers': Buffer.from(`c${type}\n{"h":"1"}\n\n`),
    'a message that was put off': wrapPutOff(Buffer.from(`K${type}\n{}`), 1_900_000_000_000),
    'a message that expires': `Nexpires\n600000 dead\nK${type}\n{}`,
    'a message that expires and was put off': wrapPutOff(Buffer.from(`Nexpires\nnever\nC${type}\n`), 1_900_000_000_000),
    'a message that repeats': `Nrepeat\n${MAX_RULE}\nK${type}\n{}`,
    'a message that repeats, expires and was put off': wrapPutOff(
      Buffer.from(`Nrepeat\n${MAX_RULE}\nNexpires\n1234567890123 dead\nC${type}\n`),
      1_900_000_000_000,
    ),
    'an encrypted message': Buffer.from(`Nencrypted\nk1:00000000\nC${type}\n\x00\n`),
    'an encrypted message that repeats, expires and was put off': wrapPutOff(
      Buffer.from(`Nrepeat\n${MAX_RULE}\nNexpires\nnever\nNencrypted\n${'k'.repeat(64)}\nC${type}\n`),
      1_900_000_000_000,
    ),
    'a damaged message with a whole type': `K${type}\n{`,
  };
}

const MAX_RULE = JSON.stringify({ cron: '"'.repeat(200), timeZone: '"'.repeat(200), missed: 'once' });

const WITHOUT_TYPE: Record<string, MessageBody> = {
  JSON: 'J"Kremind\\n"',
  'JSON with headers': 'j{"h":"1"}\n{}',
  bytes: Buffer.from('BKremind\n'),
  'bytes with headers': Buffer.from('b{"h":"1"}\nKremind\n'),
  'a message that was put off': wrapPutOff(Buffer.from('J"remind\\n"'), 1_900_000_000_000),
  'a message that expires': 'Nexpires\n600000\nJ"remind\\n"',
  'a message that repeats': 'Nrepeat\n{}\nJ"remind\\n"',
  'a body with an invalid repeat rule': 'Nrepeat\nKremind',
  'a body with an invalid expiry': 'Nexpires\nKremind',
  'an encrypted message': Buffer.from('Nencrypted\nk1:00000000\nBKremind\n'),
  'a body of a later version': 'NK\nKremind\n{}',
  'a body whose type does not end': 'Kremind',
  'a body with an invalid type': 'Ka type\n{}',
  'a body with too long a type': `K${'x'.repeat(65)}\n{}`,
  'an empty body': '',
};

async function offerBody({ store }: ContractQueue, body: MessageBody): Promise<void> {
  await store.offer([{ id: 'a', due: { after: HOUR }, onDuplicate: 'reject', body }]);
}

/** Brings `count` messages of type `remind`, and as many without a type, to a state. */
async function makeMany(queue: ContractQueue, state: MessageState, count: number): Promise<void> {
  const due = state === 'delayed' ? { after: HOUR } : { at: 1 };
  for (const type of ['remind', '']) {
    const body = queue.codec.encode({ type, payload: 1, headers: {} });
    const ids = numberedIds(count, `${state} ${type}`);
    await queue.store.offer(ids.map((id) => ({ id, due, onDuplicate: 'reject', body })));
    if (state !== 'delayed') await queue.transfer();
    const claims = state === 'active' || state === 'dead' ? await queue.claim() : [];
    const outcome = { kind: 'dead', error: 'x' } as const;
    if (state === 'dead') await queue.store.settle(claims.map((claim) => ({ claim, outcome })));
  }
}

/** In a layout without types, all messages are expected to have none. */
async function expectCounts(queue: ContractQueue, expected: CountsByType): Promise<void> {
  const types: Record<string, Record<MessageState, number>> = {};
  for (const [type, counts] of Object.entries(expected)) {
    const ofType = (types[queue.isTypeless ? '' : type] ??= { delayed: 0, ready: 0, active: 0, dead: 0 });
    for (const [state, count] of Object.entries(counts)) ofType[state as MessageState] += count;
  }
  expect(await countsOf(queue)).toEqual(types);
}

async function countsOf({ store }: ContractQueue): Promise<CountsByType> {
  const types: Record<string, Record<MessageState, number>> = {};
  let cursor: string | undefined;
  do {
    const page = await store.countTypes(cursor);
    for (const { state, type, count } of page.counts) {
      const ofType = (types[type] ??= { delayed: 0, ready: 0, active: 0, dead: 0 });
      ofType[state] += count;
    }
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return types;
}
