import { expect } from '@jest/globals';
import type { MessageCounts, MessageState } from '../../lib/message/message.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import type { StoredDeadLetter, StoredMessage } from '../../lib/store/message-upkeep.js';
import { expectEqual } from './expect-equal.js';
import type { Instant } from './instant.js';
import type { ModelMessage, QueueModel } from './queue-model.js';
import type { RealQueue } from './real-queue.js';

/** Only a few ids, so that they are often used again. */
export const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

/** Expects the queue to hold what the model holds, through the port and beneath it. */
export async function expectAgreement(model: QueueModel, real: RealQueue): Promise<void> {
  const [store] = real.views;
  const ids = [...new Set([...IDS, ...model.findable])];
  const [status, byState, page, ...found] = await Promise.all([
    store.status(),
    countByState(store),
    store.listDead({ cursor: undefined, limit: 1000 }),
    ...ids.map((id) => store.find(id)),
  ]);
  ids.forEach((id, index) => expectMessage(found[index] ?? null, model.messages.get(id)));
  expectLetters(page.letters, model.messages);
  expectEqual(
    page.letters.map(({ id }) => id),
    model.in('dead').map(({ id }) => id),
  );
  const { now, oldestReady, ...looked } = status;
  expectEqual(looked, {
    counts: {
      delayed: model.in('delayed').length,
      ready: model.line.length,
      active: model.in('active').length,
      dead: model.in('dead').length,
    },
    nextDue: model.in('delayed')[0]?.due.exact ?? null,
    paused: model.paused,
  });
  expectEqual(byState, status.counts);
  expectOldestReady(oldestReady, model);
  expect(now).toBeGreaterThan(0);

  if (model.bell === 'rung' && (model.paused || model.line.length === 0)) model.bell = 'stale';
  await real.checkInside(model);
}

/** What the counts by type add up to. */
async function countByState(store: MessageStore): Promise<MessageCounts> {
  const { counts } = await store.countTypes();
  const of = (wanted: MessageState) =>
    counts.filter(({ state }) => state === wanted).reduce((sum, { count }) => sum + count, 0);
  return { delayed: of('delayed'), ready: of('ready'), active: of('active'), dead: of('dead') };
}

function expectMessage(found: StoredMessage | null, message: ModelMessage | undefined): void {
  expectEqual(found && seen(found), message ? known(message) : null);
  if (!found || !message) return;
  const { state, lease, death } = message;
  expectEqual(
    { state: found.state, leased: found.leasedUntil !== null, error: found.death?.error },
    { state, leased: state === 'active', error: death?.error },
  );
  expectInstants(found, message);
  if (lease) expectInstant('leasedUntil', found.leasedUntil, lease.end);
  if (death) expectInstant('diedAt', found.death!.at, death.at);
}

function expectOldestReady(seen: number | null, { nextReady }: QueueModel): void {
  if (nextReady.length === 0 || seen === null) expectEqual(seen, nextReady.length === 0 ? null : 'a due time');
  else expect(nextReady.some(({ due }) => due.agreesWith(seen))).toBe(true);
}

/** Expects each letter to be one of these messages. */
export function expectLetters(letters: readonly StoredDeadLetter[], messages: QueueModel['messages']): void {
  for (const letter of letters) {
    const message = messages.get(letter.id);
    expectEqual(
      { ...seen(letter), error: letter.error },
      message && { ...known(message), error: message.death?.error },
    );
    expectInstants(letter, message!);
    expectInstant('diedAt', letter.diedAt, message!.death!.at);
  }
}

export function expectInstant(name: string, actual: number | null, instant: Instant): void {
  if (!instant.agreesWith(actual)) expect(`${name}: ${actual}`).toBe(`${name}: ${instant.toString()}`);
}

interface Seen {
  readonly id: string;
  readonly body: Buffer;
  readonly failedAttempts: number;
  readonly dueAt: number;
  readonly offeredAt: number;
}

export function expectInstants({ dueAt, offeredAt }: Seen, { due, offered }: ModelMessage): void {
  expectInstant('dueAt', dueAt, due);
  expectInstant('offeredAt', offeredAt, offered);
}

export function seen({ id, body, failedAttempts }: Seen) {
  return { id, body: body.toString(), failedAttempts };
}

export function known({ id, body, failedAttempts }: ModelMessage) {
  return { id, body, failedAttempts };
}
