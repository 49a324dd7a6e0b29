import { describe, expect, test } from '@jest/globals';
import type { EndEntry, Entry, OfferEntry, SettledEntry, StartEntry } from '../journal/entries.js';
import type { FaultWindow } from '../nemesis/fault-window.js';
import { numberIn } from '../workload/content.js';
import { History } from './history.js';
import { judge } from './oracle.js';

const PRODUCER = 1;
const WORKER = 2;
const OTHER = 3;

/** Three messages of one group, in the order of their numbers, and one of another group. */
const [A, B, C, STRANGER] = [1, 2, 3, 4].map((place) => numberIn(PRODUCER, place)) as [number, number, number, number];

type Line = readonly [process: number, entry: Entry];

/** An offer that is acknowledged after 2 ms. */
const offered = (n: number, { at = 0, due = 100, ...more }: Partial<OfferEntry> & { due?: number } = {}): Line[] => {
  const { version = 0 } = more;
  return [
    [PRODUCER, { kind: 'offer', n, version, at, delay: 0, how: 'offer', expiresAfter: null, ...more }],
    [PRODUCER, { kind: 'offered', n, version, at: at + 2, due }],
  ];
};

interface Handling extends Partial<Pick<StartEntry, 'due' | 'attempt' | 'version' | 'claimSentAt'>> {
  readonly by?: number;
  readonly how?: EndEntry['how'];
  readonly settle?: Partial<Pick<SettledEntry, 'outcome' | 'result'>> | null;
}

/** A handler that runs from `at` until `to`, and is settled 1 ms later; `to: null` for one whose process is killed. */
const handled = (n: number, at: number, to: number | null, handling: Handling = {}): Line[] => {
  const { by = WORKER, how = 'handled', settle = {}, ...more } = handling;
  // Each message is claimed on its own.
  const about = { n, claim: n };
  const usual = { claimSentAt: at - 1, due: 100, attempt: 1, version: 0, intact: true };
  const lines: Line[] = [[by, { kind: 'start', ...about, at, ...usual, ...more }]];
  if (to === null) return lines;
  lines.push([by, { kind: 'end', ...about, at: to, how }]);
  const answer = { outcome: 'ack', result: 'accepted', ...settle } as const;
  if (settle) lines.push([by, { kind: 'settled', ...about, at: to + 1, sentAt: to, ...answer }]);
  return lines;
};

const killed = (from: number): FaultWindow => ({
  ...{ kind: 'worker killed', from, to: from, processes: [WORKER], detail: '' },
  ...{ costsLeases: true, injected: true },
});

interface Court {
  readonly concurrency?: number;
  readonly windows?: readonly FaultWindow[];
  readonly isOneOfMany?: boolean;
}

function judged(lines: readonly Line[], { concurrency = 1, windows = [], isOneOfMany = true }: Court = {}) {
  const history = new History();
  for (const [process, entry] of lines) history.add(process, entry);
  const groups = {
    concurrency,
    groupOf: (n: number) => (n === STRANGER ? 'orders others' : 'orders group'),
    isOneOfMany: () => isOneOfMany,
  };
  return judge({ history, windows, deadLetters: new Set(), recovery: 50, groups });
}

describe('the oracle on groups with one permit', () => {
  const offers = [...offered(A), ...offered(B, { due: 101 }), ...offered(C, { due: 102 })];
  const crowded = (lines: readonly Line[], court?: Court) => judged([...offers, ...lines], court).crowded.count;

  test('messages handled one after the other do not exceed the concurrency, even within a millisecond', () => {
    const lines = [
      ...handled(A, 103, 105),
      ...handled(B, 105, 105, { due: 101 }),
      ...handled(C, 105, 107, { due: 102 }),
    ];
    const verdict = judged([...offers, ...lines]);
    expect(verdict).toMatchObject({ crowded: { count: 0 }, overtaken: { count: 0 } });
    expect(verdict.groups).toEqual({ groups: 1, permitUses: 3, ordered: 3 });
  });

  test('a message that starts while another is being handled exceeds the concurrency', () => {
    const verdict = judged([...offers, ...handled(A, 103, 105), ...handled(B, 104, 106, { due: 101, by: OTHER })]);
    expect(verdict.crowded.count).toBe(1);
    expect(verdict.crowded.examples[0]).toContain(`begun at 104, beside message ${A} from 103 to 105 of orders group`);
  });

  test('messages of different groups may be handled at the same time', () => {
    const stranger = [...offered(STRANGER), ...handled(STRANGER, 104, 106, { by: OTHER })];
    expect(crowded([...handled(A, 103, 105), ...stranger])).toBe(0);
  });

  describe('and retries', () => {
    const failed = handled(A, 103, 104, { how: 'failed', settle: { outcome: 'retry' } });
    const retried = handled(A, 405, 406, { due: 404, attempt: 2, by: OTHER });

    test('a message that starts while another waits for its retry exceeds the concurrency', () => {
      expect(crowded([...failed, ...retried, ...handled(B, 200, 201, { due: 101 })])).toBe(1);
      expect(crowded([...failed, ...retried, ...handled(B, 407, 408, { due: 101 })])).toBe(0);
    });

    test('a cancelled retry does not make other messages wait', () => {
      const cancelled: Line[] = [
        [PRODUCER, { kind: 'cancel', n: A, at: 150 }],
        [PRODUCER, { kind: 'cancelled', n: A, at: 152, result: 'done' }],
      ];
      expect(crowded([...failed, ...cancelled, ...handled(B, 200, 201, { due: 101 })])).toBe(0);
    });

    test.each(['deferred', 'again'] as const)('a message with the outcome %s releases its permit', (how) => {
      const outcome = how === 'again' ? 'again' : 'defer';
      const putOff = handled(A, 103, 104, { how, settle: { outcome } });
      const version = how === 'again' ? 1 : 0;
      const later = handled(A, 505, 506, { due: 504, by: OTHER, version });
      expect(crowded([...putOff, ...handled(B, 200, 201, { due: 101 }), ...later])).toBe(0);
    });

    test('a message that starts between two attempts is not judged if the first offer has an unknown outcome', () => {
      const twice: Line[] = [
        [PRODUCER, { kind: 'offer', n: A, version: 0, at: 0, delay: 0, how: 'offer', expiresAfter: null }],
        [PRODUCER, { kind: 'offer-unknown', n: A, version: 0, at: 1 }],
      ];
      const lines = [...twice, ...offers, ...failed, ...retried, ...handled(B, 200, 201, { due: 101 })];
      expect(judged(lines).crowded.count).toBe(0);
    });
  });

  describe('and leases', () => {
    const takenOver = handled(A, 3103, 3104, { attempt: 2, by: OTHER });
    const next = handled(B, 3106, 3200, { due: 101, by: OTHER });
    const lateEnd = handled(A, 103, 3150, { settle: { result: 'refused' } });

    test('a lost lease returns both the message and its permit', () => {
      const windows = [killed(104)];
      expect(crowded([...handled(A, 103, null), ...takenOver, ...next], { windows })).toBe(0);
      const between = handled(B, 3000, 3001, { due: 101, by: OTHER });
      expect(crowded([...handled(A, 103, null), ...takenOver, ...between], { windows })).toBe(1);
    });

    test('a handler that lost its lease may overlap with the next handler', () => {
      expect(crowded([...lateEnd, ...takenOver, ...next])).toBe(0);
    });

    test('a handler that starts after losing its lease may overlap with the next handler', () => {
      const late = handled(A, 3110, 3150, { claimSentAt: 102, settle: { result: 'refused' } });
      expect(judged([...offers, ...late, ...takenOver, ...next])).toMatchObject({
        crowded: { count: 0 },
        overtaken: { count: 0 },
      });
    });

    test('a handler whose message has not been taken over must not overlap with the next handler', () => {
      expect(crowded([...lateEnd, ...next])).toBe(1);
    });
  });

  test.each<[string, Line[]]>([
    [
      'aborted',
      [
        [PRODUCER, { kind: 'abort', n: A, at: 110 }],
        [PRODUCER, { kind: 'aborted', n: A, at: 112, result: 'done' }],
      ],
    ],
    ['replaced', offered(A, { at: 110, due: 900, version: 1 })],
  ])('a message that was %s while it was being handled may overlap with the next message', (_what, lines) => {
    const going = handled(A, 103, 200, { settle: { result: 'refused' } });
    expect(crowded([...going, ...lines, ...handled(B, 113, 114, { due: 101, by: OTHER })])).toBe(0);
    expect(crowded([...going, ...lines, ...handled(B, 109, 110, { due: 101, by: OTHER })])).toBe(1);
  });

  test('a message that was replaced between its claim and its start may overlap with the next message', () => {
    const replacing = offered(A, { at: 110, due: 900, version: 1 });
    const next = handled(B, 113, 130, { due: 101, by: OTHER });
    const startsAt = (at: number) => handled(A, at, at + 2, { claimSentAt: 105, settle: { result: 'refused' } });
    expect(judged([...offers, ...startsAt(115), ...replacing, ...next])).toMatchObject({
      crowded: { count: 0 },
      overtaken: { count: 0 },
    });
    expect(crowded([...startsAt(109), ...replacing, ...handled(B, 107, 130, { due: 101, by: OTHER })])).toBe(1);
  });

  test('a refused abort excuses nothing', () => {
    const refused: Line[] = [
      [PRODUCER, { kind: 'abort', n: A, at: 110 }],
      [PRODUCER, { kind: 'aborted', n: A, at: 112, result: 'refused' }],
    ];
    expect(crowded([...handled(A, 103, 200), ...refused, ...handled(B, 113, 114, { due: 101, by: OTHER })])).toBe(1);
  });

  test('messages that Redis forgot are not judged', () => {
    const lines = [...handled(A, 103, 200), ...handled(B, 160, 161, { due: 101, by: OTHER })];
    const forgetting = { ...killed(150), processes: 'all' as const, forgotten: [{ from: 102, to: 150 }] };
    expect(crowded(lines, { windows: [forgetting] })).toBe(0);
    expect(crowded(lines, { windows: [{ ...forgetting, forgotten: [{ from: 300, to: 350 }] }] })).toBe(1);
  });
});

describe('the oracle on groups with several permits', () => {
  const offers = [A, B, C].flatMap((n) => offered(n));

  test('no more messages than permits may be handled at the same time', () => {
    const three = [...handled(A, 103, 110), ...handled(B, 104, 110), ...handled(C, 105, 110)];
    expect(judged([...offers, ...three], { concurrency: 3 }).crowded.count).toBe(0);
    expect(judged([...offers, ...three], { concurrency: 2 }).crowded.count).toBe(1);
  });

  test('messages may start out of order', () => {
    const lines = [...offered(A, { due: 100 }), ...offered(B, { due: 150 }), ...handled(B, 160, 161, { due: 150 })];
    const { overtaken, groups } = judged([...lines, ...handled(A, 170, 171)], { concurrency: 2 });
    expect([overtaken.count, groups.ordered]).toEqual([0, 0]);
  });
});

describe('the oracle on the order of a group', () => {
  const overtaken = (lines: readonly Line[], court?: Court) => judged(lines, court).overtaken.count;
  /** B is handled before A. */
  const turned = (due: { a: number; b: number }) => [
    ...handled(B, due.b + 3, due.b + 4, { due: due.b }),
    ...handled(A, due.b + 5, due.b + 6, { due: due.a }),
  ];

  test('a message that starts after one with a later due time counts as overtaken', () => {
    const lines = [...offered(A, { due: 100 }), ...offered(B, { due: 150 }), ...turned({ a: 100, b: 150 })];
    const verdict = judged(lines);
    expect(verdict.overtaken.count).toBe(1);
    expect(verdict.overtaken.examples[0]).toContain(`message ${A}: due at 100, in the queue since 2, but begun at 155`);
  });

  test('a message that arrived after the other one was already due does not count as overtaken', () => {
    const late = offered(A, { at: 148, due: 100 });
    expect(overtaken([...late, ...offered(B, { due: 150 }), ...turned({ a: 100, b: 150 })])).toBe(0);
  });

  test.each<[string, Line[]]>([
    [
      'rescheduled',
      [
        [PRODUCER, { kind: 'reschedule', n: A, at: 149, delay: 0 }],
        [PRODUCER, { kind: 'rescheduled', n: A, at: 151, result: 'done' }],
      ],
    ],
    ['replaced', offered(A, { at: 149, due: 149, version: 1 })],
  ])('a message that was %s when the other one fell due does not count as overtaken', (what, change) => {
    const version = what === 'replaced' ? 1 : 0;
    const last = handled(A, 155, 156, { due: 149, version });
    const before = [...offered(A, { due: 700 }), ...offered(B, { due: 150 })];
    expect(overtaken([...before, ...change, ...handled(B, 153, 154, { due: 150 }), ...last])).toBe(0);
  });

  test('a message redelivered by again() counts as overtaken by messages due later than its new due time', () => {
    const again = handled(A, 103, 104, { how: 'again', settle: { outcome: 'again' } });
    const next = (due: number) => [
      ...handled(B, 603, 604, { due, by: OTHER }),
      ...handled(A, 605, 606, { due: 504, version: 1, by: OTHER }),
    ];
    expect(overtaken([...offered(A), ...offered(B, { due: 600 }), ...again, ...next(600)])).toBe(1);
    expect(overtaken([...offered(A), ...offered(B, { due: 500 }), ...again, ...next(500)])).toBe(0);
  });

  test('a message that waits for its retry or returns after its lease does not overtake others', () => {
    const failed = handled(B, 103, 104, { due: 99, how: 'failed', settle: { outcome: 'retry' } });
    const retried = handled(B, 405, 406, { due: 404, attempt: 2, by: OTHER });
    const offers = [...offered(B, { due: 99 }), ...offered(A, { due: 100 })];
    expect(overtaken([...offers, ...failed, ...retried, ...handled(A, 408, 409)])).toBe(0);
  });

  test('an expired message does not count as overtaken', () => {
    const expired: Line = [WORKER, { kind: 'expired', n: A, at: 160 }];
    const offers = [...offered(A, { due: 100, expiresAfter: 20 }), ...offered(B, { due: 150 })];
    expect(overtaken([...offers, ...handled(B, 153, 154, { due: 150 }), expired])).toBe(0);
  });

  test('messages due in the same millisecond start in the order of their offers', () => {
    const [first, second] = [offered(A, { at: 0 }), offered(B, { at: 3 })];
    expect(overtaken([...first, ...second, ...turned({ a: 100, b: 100 })])).toBe(1);
    // Nobody knows which of them came first.
    expect(overtaken([...first, ...offered(B, { at: 1 }), ...turned({ a: 100, b: 100 })])).toBe(0);
  });

  test('messages offered in one call and due in the same millisecond start in the order of the call', () => {
    const offers = [...offered(A), ...offered(B)];
    expect(overtaken([...offers, ...turned({ a: 100, b: 100 })])).toBe(1);
    expect(overtaken([...offers, ...turned({ a: 100, b: 100 })], { isOneOfMany: false })).toBe(0);
    expect(overtaken([...offers, ...handled(A, 103, 104), ...handled(B, 105, 106)])).toBe(0);
  });

  test('repaired messages may have fallen behind', () => {
    const lines = [...offered(A, { due: 100 }), ...offered(B, { due: 150 }), ...turned({ a: 100, b: 150 })];
    const deleted = { ...killed(50), kind: 'delayed deleted', processes: [], costsLeases: false, disorders: true };
    expect(overtaken(lines, { windows: [deleted] })).toBe(0);
    expect(overtaken(lines, { windows: [{ ...deleted, from: 160, to: 170 }] })).toBe(1);
  });
});

describe('the oracle on a partial script that Redis has replayed', () => {
  const torn: FaultWindow = { ...killed(50), kind: 'log torn', processes: 'all', crowds: true, to: 90 };
  const beside = [A, B].flatMap((n) => offered(n));
  const lines = [...beside, ...handled(A, 103, 200), ...handled(B, 120, 121, { by: OTHER })];

  test('a group may exceed its permits by one until it is repaired', () => {
    expect(judged(lines, { windows: [torn] }).crowded.count).toBe(0);
    expect(judged(lines, { windows: [{ ...torn, to: 60 }] }).crowded.count).toBe(1);
    expect(judged(lines, { windows: [{ ...torn, crowds: false }] }).crowded.count).toBe(1);
  });
});
