import { expect } from '@jest/globals';
import type { MessageCounts, MessageState } from '../../lib/message/message.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import type { StoredMessage, StoredPage } from '../../lib/store/admin-store.js';
import { expectEqual } from './expect-equal.js';
import type { Instant } from './instant.js';
import type { ModelMessage, QueueModel } from './queue-model.js';
import type { RealQueue } from './real-queue.js';

const STATES = ['delayed', 'ready', 'active', 'dead'] as const;

/** Only a few ids, so that they are often used again. */
export const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

/** Expects the queue to hold what the model holds, through the port and beneath it. */
export async function expectAgreement(model: QueueModel, real: RealQueue): Promise<void> {
  const [store] = real.views;
  const ids = [...new Set([...IDS, ...model.findable])];
  const [status, byState, page, ...found] = await Promise.all([
    store.status(),
    countByState(store),
    store.list({ state: 'dead', limit: 1000 }),
    ...ids.map((id) => store.find(id)),
  ]);
  ids.forEach((id, index) => expectMessage(found[index] ?? null, model.messages.get(id)));
  expectListed(page.messages, model.messages);
  expectEqual(
    page.messages.map(({ id }) => id),
    model.in('dead').map(({ id }) => id),
  );
  const { now, oldestReady, ...looked } = status;
  expectEqual(looked, {
    counts: {
      delayed: model.in('delayed').length,
      ready: model.readyList.length,
      active: model.in('active').length,
      dead: model.in('dead').length,
    },
    nextDue: model.in('delayed')[0]?.due.exact ?? null,
    paused: model.paused,
  });
  expectEqual(byState, status.counts);
  if (!model.readyList.isVague) expectOldestReady(oldestReady, model);
  await Promise.all(STATES.map((state) => expectWalk(state, model, store)));
  if (store.remember) await expectHistory(model, store);
  expect(now).toBeGreaterThan(0);

  if (model.wakeSignal === 'sent' && (model.paused || model.claimableNow === 0)) model.wakeSignal = 'stale';
  if (model.readyList.isVague && model.wakeSignal === 'none') model.wakeSignal = 'stale';
  await real.checkInside(model);
}

async function expectHistory({ history }: QueueModel, store: MessageStore): Promise<void> {
  const { messages } = await store.list({ state: 'handled', limit: 1000 });
  const shown = messages.map(({ id, handling, body }) => ({ id, took: handling!.took, body: body.toString() }));
  expectEqual(
    shown.map(({ id, took }) => [id, took]),
    history.map(({ id, entry }) => [id, entry.took]),
  );
  // With groups, the store keeps the group with the body.
  for (const [i, { body }] of history.entries())
    expectEqual(shown[i]!.body.slice(shown[i]!.body.length - body.length), body);
  for (const [i, { body }] of history.entries()) expectEqual(shown[i]!.body === '', body === '');
}

/** The ids of the messages that the queue remembers. */
export async function listHistory(store: MessageStore): Promise<string[]> {
  return (await store.list({ state: 'handled', limit: 1000 })).messages.map(({ id }) => id);
}

/** The sums of the counts by type. */
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

/** Expects a walk through a state to list each of its messages once. */
async function expectWalk(state: MessageState, model: QueueModel, store: MessageStore): Promise<void> {
  const walked: StoredMessage[] = [];
  let page: StoredPage | undefined;
  do {
    const from = page?.cursor ? { cursor: page.cursor } : { offset: 0 };
    page = await store.list({ state, from, limit: 3 });
    walked.push(...page.messages);
  } while (page.cursor !== null);
  const bodies = (messages: readonly { body: Buffer | string }[]) => messages.map(({ body }) => body.toString()).sort();
  expectEqual(bodies(walked), bodies(model.in(state)));
  const listed = model.listed(state);
  if (listed) {
    expectListed(walked, model.messages);
    expectEqual(
      walked.map(({ id }) => id),
      listed.map(({ id }) => id),
    );
  }
}

/** Expects each of these to be one of the model's messages. */
export function expectListed(listed: readonly StoredMessage[], messages: QueueModel['messages']): void {
  for (const each of listed) expectMessage(each, messages.get(each.id));
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
