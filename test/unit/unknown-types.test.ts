import { describe, expect, it } from '@jest/globals';
import { UnknownBodyForm, unwrapPutOff } from '../../lib/message/codec/body-forms.js';
import type { Delivery } from '../../lib/consumer/delivery.js';
import { UnknownTypes } from '../../lib/consumer/unknown-types.js';
import { Events } from '../../lib/events/events.js';
import type { Outcome } from '../../lib/store/consumer-store.js';
import { newDelivery } from '../support/deliveries.js';
import { LoggedEvents } from '../support/logged-events.js';

const DUE = 1_900_000_000_000;
const HOUR = 3_600_000;
const BODY = Buffer.from('Knew\n{"a":1}');

function delivery(dueAt = DUE, type = 'new', id = 'a'): Delivery {
  const opened = newDelivery(id, { body: BODY, dueAt, offeredAt: DUE - 1 });
  opened.open({ type, payload: null, headers: {} });
  return opened;
}

const unknownTypes = (grace: number, { events = new Events(), random = 0.5 } = {}) =>
  new UnknownTypes({ grace, events, random: () => random });

const bodyOf = (outcome: Outcome) => Buffer.from((outcome as { body: Buffer }).body);

describe('a message whose type has no handler', () => {
  it.each([
    [0, 24_000],
    [0.5, 30_000],
    [1, 36_000],
  ])('is put off for about 30 s (random %d)', (random, delay) => {
    const outcome = unknownTypes(24 * HOUR, { random }).noHandler(delivery(), BODY);
    expect(outcome).toMatchObject({ kind: 'defer', delay });
  });

  it('keeps the instant at which it was first due until its grace period ends and it becomes a dead letter', () => {
    const types = unknownTypes(HOUR);
    let body: Buffer = BODY;
    for (let dueAt = DUE; dueAt < DUE + HOUR; dueAt += 30_000) {
      const outcome = types.noHandler(delivery(dueAt), body);
      expect(outcome.kind).toBe('defer');
      body = bodyOf(outcome);
      expect(unwrapPutOff(body)).toEqual({ since: DUE, body: BODY });
    }
    const outcome = types.noHandler(delivery(DUE + HOUR), body);
    expect(outcome).toMatchObject({ kind: 'dead', body: BODY });
    expect(JSON.parse((outcome as { error: string }).error)).toMatchObject({ name: 'UnknownType' });
  });

  it('is not put off beyond the end of its grace period', () => {
    const body = Buffer.from(bodyOf(unknownTypes(HOUR).noHandler(delivery(), BODY)));
    expect(unknownTypes(HOUR).noHandler(delivery(DUE + HOUR - 5), body)).toMatchObject({ kind: 'defer', delay: 5 });
  });

  it('becomes a dead letter at once if there is no grace period', () => {
    expect(unknownTypes(0).noHandler(delivery(), BODY)).toMatchObject({ kind: 'dead', body: BODY });
  });

  it('gets a new grace period when it is redriven', () => {
    const dead = unknownTypes(0).noHandler(delivery(), BODY);
    const outcome = unknownTypes(HOUR).noHandler(delivery(DUE + 100 * HOUR), bodyOf(dead));
    expect(unwrapPutOff(bodyOf(outcome)).since).toBe(DUE + 100 * HOUR);
  });

  it('is logged once per type', () => {
    const events = new LoggedEvents();
    const types = unknownTypes(HOUR, { events });
    const reported: unknown[] = [];
    events.on('unknown-type', (event) => reported.push(event));
    for (const type of ['new', 'newer', 'new', '']) types.noHandler(delivery(DUE, type), BODY);
    expect(events.lines.map((line) => /type '\w+'|no type/.exec(line)?.[0])).toEqual([
      "type 'new'",
      "type 'newer'",
      'no type',
    ]);
    expect(reported).toHaveLength(4);
    expect(reported[2]).toEqual({ queue: 'orders', id: 'a', type: 'new', retryIn: 30_000, isFirst: false });
  });
});

describe("a message in a later version's form", () => {
  it('is put off and finally becomes a dead letter with the error of its reader', () => {
    const later = Buffer.from('Nzstd\n...');
    const error = new UnknownBodyForm('zstd');
    const outcome = unknownTypes(HOUR).unknownForm(delivery(), later, error);
    expect(unwrapPutOff(bodyOf(outcome))).toEqual({ since: DUE, body: later });
    const dead = unknownTypes(HOUR).unknownForm(delivery(DUE + HOUR), bodyOf(outcome), error);
    expect(dead).toMatchObject({ kind: 'dead', body: later });
    const failure: unknown = JSON.parse((dead as { error: string }).error);
    // The name keeps it from being dropped.
    expect(failure).toMatchObject({ name: 'UnreadableBody', message: expect.stringContaining('zstd') });
  });
});
