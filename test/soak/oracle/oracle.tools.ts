import { describe, expect, test } from '@jest/globals';
import type { EndEntry, Entry, OfferEntry, SettledEntry, StartEntry } from '../journal/entries.js';
import type { FaultWindow } from '../nemesis/fault-window.js';
import { History } from './history.js';
import { judge } from './oracle.js';

const PRODUCER = 1;
const WORKER = 2;
const OTHER = 3;
const N = 7;

type Line = readonly [process: number, entry: Entry];

const offer = (at: number, delay: number, version = 0, more: Partial<OfferEntry> = {}): Line => [
  PRODUCER,
  { kind: 'offer', n: N, version, at, delay, how: 'offer', expiresAfter: null, ...more },
];
const offered = (at: number, due: number | null, version = 0): Line => [
  PRODUCER,
  { kind: 'offered', n: N, version, at, due },
];
const unknown = (at: number, version = 0): Line => [PRODUCER, { kind: 'offer-unknown', n: N, version, at }];
const failed = (at: number, version = 0): Line => [PRODUCER, { kind: 'offer-failed', n: N, version, at }];
const cancelled = (at: number): Line[] => [
  [PRODUCER, { kind: 'cancel', n: N, at: at - 1 }],
  [PRODUCER, { kind: 'cancelled', n: N, at, result: 'done' }],
];

/** A cancel that was not answered, followed by one that was. */
const cancelledAtLast = (at: number): Line[] => [
  [PRODUCER, { kind: 'cancel', n: N, at: at - 10 }],
  [PRODUCER, { kind: 'cancelled', n: N, at: at - 5, result: 'unknown' }],
  ...cancelled(at),
];

/** Everything about one claim of a message that is due at 100. */
const start = (at: number, more: Partial<StartEntry> & { by?: number } = {}): Line => {
  const { by = WORKER, ...others } = more;
  const usual = { claim: 1, claimSentAt: at - 2, due: 100, attempt: 1, version: 0, intact: true };
  return [by, { kind: 'start', n: N, at, ...usual, ...others }];
};
const end = (at: number, how: EndEntry['how'] = 'handled', by = WORKER): Line => [
  by,
  { kind: 'end', n: N, claim: 1, at, how },
];
const settled = (at: number, more: Partial<SettledEntry> & { by?: number } = {}): Line => {
  const { by = WORKER, ...others } = more;
  return [by, { kind: 'settled', n: N, claim: 1, at, sentAt: at - 1, outcome: 'ack', result: 'accepted', ...others }];
};

const OFFERED = [offer(0, 99), offered(2, 100)];
const HANDLED = [start(103), end(104), settled(106)];
/** Handled by another process after the first one's lease ended. */
const HANDLED_AGAIN = [
  start(3103, { by: OTHER, attempt: 2 }),
  end(3104, 'handled', OTHER),
  settled(3106, { by: OTHER }),
];

/** The observer is process 0. */
const held = (from: number, to: number): Line => [0, { kind: 'held', n: N, from, at: to }];

const fault = (from: number, to: number, processes: FaultWindow['processes'] = [WORKER]): FaultWindow => ({
  kind: 'worker killed',
  from,
  to,
  processes,
  detail: '',
  costsLeases: true,
  injected: true,
});

/** Redis forgets what it acknowledged until `to`, or only what it acknowledged from `since` on. */
const forgetting = (from: number, to: number, since = -Infinity): FaultWindow => ({
  ...fault(from, to, 'all'),
  kind: 'data flushed',
  forgotten: [{ from: since, to }],
});

function judged(lines: readonly Line[], windows: readonly FaultWindow[] = [], deadLetters: readonly number[] = []) {
  const history = new History();
  for (const [process, entry] of lines) history.add(process, entry);
  const verdict = judge({ history, windows, deadLetters: new Set(deadLetters), recovery: 50 });
  const { lost, undone, hostage, early, corrupt, revived, unattributed, staleSettles, expiry } = verdict;
  const findings = { lost, undone, hostage, early, corrupt, revived, unattributed, staleSettles, expiry };
  const red = Object.entries(findings).flatMap(([kind, { count }]) => (count > 0 ? [kind] : []));
  return { ...verdict, red };
}

/** What becomes of an attempt. */
type Fate = 'handled' | 'failed' | 'deferred' | 'killed' | 'again';

/** Lives of a message that is handled at last, with setbacks before and after its handler asks for it again. */
function lives(): Fate[][] {
  const setbacks: Fate[][] = [[], ['killed'], ['failed'], ['deferred'], ['failed', 'killed'], ['killed', 'deferred']];
  const asked = setbacks.flatMap((before) => setbacks.map((after): Fate[] => [...before, 'again', ...after]));
  return [...setbacks, ...asked].map((life) => [...life, 'handled']);
}

/** Journals of attempts, each by another process, from 100 on; what is offered again is due at 50,000. */
function lived(fates: readonly (Fate | 'offered again')[]) {
  const lines: Line[] = [];
  const windows: FaultWindow[] = [];
  let [at, by, attempt, version] = [100, WORKER, 1, 0];
  for (const fate of fates) {
    if (fate === 'offered again') {
      [at, attempt, version] = [50_000, 1, 0];
      continue;
    }
    lines.push(start(at + 3, { by, due: at, attempt, version }));
    if (fate === 'killed') {
      windows.push(fault(at + 4, at + 5, [by]));
    } else {
      const outcome = ({ handled: 'ack', failed: 'retry', deferred: 'defer', again: 'again' } as const)[fate];
      lines.push(end(at + 4, fate, by), settled(at + 6, { by, outcome }));
    }
    if (fate === 'again') [attempt, version] = [1, version + 1];
    else if (fate !== 'deferred') attempt++;
    [at, by] = [at + 3100, by + 1];
  }
  return { lines, windows, process: by };
}

describe('the oracle', () => {
  test('finds nothing wrong with a message that is handled once', () => {
    expect(judged([...OFFERED, ...HANDLED])).toMatchObject({
      red: [],
      acknowledged: 1,
      handled: 1,
      starts: 1,
      duplicates: {},
    });
  });

  describe('on lost messages', () => {
    test.each([
      ['never started', [], 'never started'],
      ['started but never finished', [start(103)], 'started 1 times, never handled'],
      ['only failed', [start(103), end(104, 'failed'), settled(106, { outcome: 'retry' })], 'never handled'],
      ['was rejected but is not a dead letter', [start(103), end(104, 'rejected')], 'not among the dead letters'],
    ])('an acknowledged message that %s is reported as lost', (_what, lines, words) => {
      const { red, lost } = judged([...OFFERED, ...lines]);
      expect(red).toEqual(['lost']);
      expect(lost.examples[0]).toContain(words);
    });

    test('a message whose handler finished is not lost, whatever became of its outcome', () => {
      expect(judged([...OFFERED, start(103), end(104)]).red).toEqual([]);
    });

    test('an acknowledged replacement must itself be handled', () => {
      const replaced = [...OFFERED, offer(50, 100, 1), offered(52, 151, 1)];
      expect(judged([...replaced, ...HANDLED]).lost.count).toBe(1);
      expect(judged([...replaced, start(155, { due: 151, version: 1 }), end(156)]).red).toEqual([]);
    });

    test.each([
      ['an offer that failed', [offer(0, 99), failed(2)]],
      ['an offer with an unknown outcome', [offer(0, 99), unknown(2)]],
      ['an offer whose producer was killed', [offer(0, 99)]],
      ['a cancelled message', [...OFFERED, ...cancelled(50)]],
    ])('%s need not be handled', (_what, lines) => {
      expect(judged(lines).red).toEqual([]);
    });

    test('a rejected message that is a dead letter is not lost', () => {
      expect(judged([...OFFERED, start(103), end(104, 'rejected')], [], [N]).red).toEqual([]);
    });
  });

  describe('on messages removed by an older call', () => {
    const renewed = [offer(2060, 100, 1), offered(2062, 2161, 1)];
    const handled = [start(2165, { due: 2161, version: 1 }), end(2166), settled(2168)];

    test('an offer that disappears after an older cancel with an unknown outcome is reported as undone', () => {
      const { red, undone } = judged([...OFFERED, ...cancelledAtLast(50), ...renewed]);
      expect(red).toEqual(['undone']);
      expect(undone.examples[0]).toContain('a cancel at 40 was never answered');
    });

    test('a replacement that disappears is reported as undone if an older one with an unknown outcome is handled', () => {
      const older = [offer(40, 100, 1), unknown(45, 1)];
      const newer = [offer(2060, 100, 2), offered(2062, 2161, 2)];
      expect(judged([...OFFERED, ...older, ...newer, ...handled])).toMatchObject({
        red: ['undone'],
        undone: { count: 1 },
      });
    });

    test('an unanswered call may take effect after later calls, until its time is up', () => {
      const soon = [offer(60, 100, 2), offered(62, 161, 2)];
      const older = [offer(40, 100, 1), unknown(45, 1)];
      const olderHandled = [start(165, { due: 161, version: 1 }), end(166), settled(168)];
      expect(judged([...OFFERED, ...older, ...soon, ...olderHandled]).red).toEqual([]);
      expect(judged([...OFFERED, ...cancelledAtLast(50), ...soon]).red).toEqual([]);
      expect(judged([...OFFERED, ...older, ...soon]).red).toEqual(['lost']);
    });

    test('an offer that disappears with no older unanswered call is reported as lost', () => {
      expect(judged([...OFFERED, ...cancelled(50), ...renewed]).red).toEqual(['lost']);
    });

    test('a message that is offered again after its cancel and handled is not undone', () => {
      expect(judged([...OFFERED, ...cancelledAtLast(50), ...renewed, ...handled]).red).toEqual([]);
    });

    test('a cancel after the last offer explains why the offer disappeared', () => {
      expect(judged([...OFFERED, ...cancelled(50), ...renewed, ...cancelledAtLast(2100)]).red).toEqual([]);
    });
  });

  describe('on held messages', () => {
    test('a message held by a claim without a handler for much longer than a lease counts as a hostage', () => {
      const late = [start(9103, { claimSentAt: 9100 }), end(9104), settled(9106)];
      const { red, hostage } = judged([...OFFERED, held(200, 9000), ...late]);
      expect(red).toEqual(['hostage']);
      expect(hostage.examples[0]).toContain('from 200 to 9000');
      expect(judged([...OFFERED, held(200, 7100), ...late]).red).toEqual([]);
    });

    test('a message whose handler has ended without settling it counts as a hostage', () => {
      const lives: Line = [WORKER, { kind: 'stall', from: 7000, at: 8000 }];
      expect(judged([...OFFERED, start(103), end(104), held(103, 8000), lives]).red).toEqual(['hostage']);
    });

    test.each([
      ['its handler runs', [start(103), end(9000), settled(9002)]],
      ['its outcome is on its way', [start(103), end(104), settled(9002)]],
      [
        'its holder is last known to be alive',
        [start(103), [WORKER, { kind: 'stall', from: 8000, at: 8999 }] as const],
      ],
    ])('a message is not a hostage while %s', (_what, lines) => {
      expect(judged([...OFFERED, held(103, 9000), ...lines]).hostage.count).toBe(0);
    });

    test('a message is not a hostage while Redis does not answer', () => {
      const late = [start(9103, { claimSentAt: 9100 }), end(9104), settled(9106)];
      expect(judged([...OFFERED, held(200, 9000), ...late], [fault(4000, 6000, 'all')]).red).toEqual([]);
      expect(judged([...OFFERED, held(200, 9000), ...late], [fault(4000, 6000, [WORKER])]).red).toEqual(['hostage']);
    });
  });

  describe('on messages that Redis forgets', () => {
    test('a message acknowledged before Redis loses data counts as lost by Redis, not by the module', () => {
      expect(judged(OFFERED, [forgetting(50, 60)])).toMatchObject({ red: [], lostByRedis: { count: 1 } });
    });

    test('a message offered after Redis has lost data counts as lost by the module', () => {
      expect(judged([offer(61, 99), offered(63, 161)], [forgetting(50, 60)])).toMatchObject({
        red: ['lost'],
        lostByRedis: { count: 0 },
      });
    });

    test('a forgotten dead letter counts as lost by Redis', () => {
      const rejected = [start(103), end(104, 'rejected'), settled(106, { outcome: 'dead' })];
      expect(judged([...OFFERED, ...rejected], [forgetting(110, 120)])).toMatchObject({
        red: [],
        lostByRedis: { count: 1 },
      });
    });

    test('a message whose outcome was forgotten may be handled again', () => {
      expect(judged([...OFFERED, ...HANDLED, ...HANDLED_AGAIN], [forgetting(110, 120)])).toMatchObject({
        red: [],
        duplicates: { 'forgotten by Redis': 1 },
      });
      expect(judged([...OFFERED, ...HANDLED, ...HANDLED_AGAIN], [forgetting(-20, -10)]).red).toEqual(['unattributed']);
    });

    test('a message whose cancel was forgotten may be handled, but only with its own content', () => {
      expect(judged([...OFFERED, ...cancelled(50), ...HANDLED], [forgetting(55, 60)]).red).toEqual([]);
      const damaged = [start(103, { intact: false }), end(104), settled(106)];
      expect(judged([...OFFERED, ...cancelled(50), ...damaged], [forgetting(55, 60)]).red).toEqual(['corrupt']);
    });
  });

  describe('on messages that a failover loses', () => {
    test('a message acknowledged before the replicas had everything counts as lost by the module', () => {
      expect(judged(OFFERED, [forgetting(50, 60, 50)])).toMatchObject({ red: ['lost'], lostByRedis: { count: 0 } });
    });

    test('a message acknowledged after the replicas had everything counts as lost by Redis', () => {
      expect(judged([offer(45, 55), offered(51, 100)], [forgetting(50, 60, 50)])).toMatchObject({
        red: [],
        lostByRedis: { count: 1 },
      });
    });

    test('a message may be handled again only if its outcome was acknowledged after the replicas had everything', () => {
      const again = [...OFFERED, ...HANDLED, ...HANDLED_AGAIN];
      expect(judged(again, [forgetting(106, 120, 106)])).toMatchObject({
        red: [],
        duplicates: { 'forgotten by Redis': 1 },
      });
      expect(judged(again, [forgetting(107, 120, 107)]).red).toEqual(['unattributed']);
    });

    test('an outcome of a superseded claim may be accepted only by a server that is about to be replaced', () => {
      const late = settled(3110, { sentAt: 3109 });
      const stale = [...OFFERED, start(103), end(104), ...HANDLED_AGAIN, late];
      expect(judged(stale, [forgetting(3108, 3120, 3108)]).red).not.toContain('staleSettles');
      expect(judged(stale, [forgetting(3111, 3120, 3111)]).red).toContain('staleSettles');
    });
  });

  describe('on early messages', () => {
    test('a claim in the same millisecond as a replacement may have preceded it', () => {
      const replaced = [offer(100, 50, 1), offered(101, 150, 1)];
      const claim = (claimSentAt: number) => [start(101, { claimSentAt }), end(102), settled(103)];
      const later = [start(150, { by: OTHER, due: 150, version: 1 }), end(151, 'handled', OTHER)];
      expect(judged([...OFFERED, ...replaced, ...claim(101), ...later]).red).toEqual([]);
    });

    test('a start before the due time is early', () => {
      expect(judged([...OFFERED, start(99), end(104)])).toMatchObject({ red: ['early'], early: { count: 1 } });
    });

    test('a due time before the end of the delay is early, whatever Redis reports', () => {
      expect(judged([offer(0, 99), offered(2, 80), start(85, { due: 80 }), end(86)]).red).toEqual(['early']);
    });

    test('a retry that is due before the end of its backoff is early', () => {
      const retried = [...OFFERED, start(103), end(104, 'failed'), settled(106, { outcome: 'retry' })];
      const again = (due: number) => [start(due, { by: OTHER, due, attempt: 2 }), end(due + 1, 'handled', OTHER)];
      expect(judged([...retried, ...again(404)]).red).toEqual([]);
      expect(judged([...retried, ...again(403)]).red).toEqual(['early']);
    });

    test('the retry that ends a claim does not make that claim early, even within one millisecond', () => {
      const failed = [
        start(103, { claimSentAt: 103 }),
        end(103, 'failed'),
        settled(103, { sentAt: 103, outcome: 'retry' }),
      ];
      const again = [start(405, { by: OTHER, due: 404, attempt: 2 }), end(406, 'handled', OTHER)];
      expect(judged([...OFFERED, ...failed, ...again]).red).toEqual([]);
    });

    test('a rescheduled message that starts at its old due time is early', () => {
      const moved: Line[] = [
        [PRODUCER, { kind: 'reschedule', n: N, at: 50, delay: 500 }],
        [PRODUCER, { kind: 'rescheduled', n: N, at: 52, result: 'done' }],
      ];
      expect(judged([...OFFERED, ...moved, ...HANDLED]).red).toEqual(['early']);
      expect(judged([...OFFERED, ...moved, start(552, { due: 551 }), end(553)]).red).toEqual([]);
    });
  });

  describe('on corrupt messages', () => {
    test('content that differs from the offer is corrupt', () => {
      expect(judged([...OFFERED, start(103, { intact: false }), end(104)]).red).toEqual(['corrupt']);
    });

    test('a version that was never offered is corrupt', () => {
      expect(judged([...OFFERED, start(103, { version: 1 }), end(104)]).corrupt.count).toBe(1);
    });

    test('a due time that differs from the acknowledged one is corrupt', () => {
      expect(judged([...OFFERED, start(203, { due: 200 }), end(204)]).red).toEqual(['corrupt']);
    });

    test('content without a readable number is corrupt', () => {
      expect(judged([...OFFERED, ...HANDLED, [WORKER, { kind: 'unreadable', at: 5 }]]).red).toEqual(['corrupt']);
    });
  });

  describe('on revived messages', () => {
    test('a message claimed after it was cancelled counts as revived', () => {
      expect(judged([...OFFERED, ...cancelled(50), ...HANDLED]).red).toEqual(['revived']);
    });

    test('a message claimed with its old content after it was replaced counts as revived', () => {
      const replaced = [...OFFERED, offer(50, 100, 1), offered(52, 151, 1)];
      const handled = [start(155, { by: OTHER, due: 151, version: 1 }), end(156, 'handled', OTHER)];
      expect(judged([...replaced, ...HANDLED, ...handled]).revived.count).toBe(1);
    });

    test('a message claimed while it was being replaced does not count as revived', () => {
      const replaced = [...OFFERED, offer(102, 100, 1), offered(103, 203, 1)];
      const old = [start(105, { claimSentAt: 101 }), end(106), settled(108, { result: 'refused' })];
      const handled = [start(205, { by: OTHER, due: 203, version: 1 }), end(206, 'handled', OTHER)];
      expect(judged([...replaced, ...old, ...handled])).toMatchObject({
        red: [],
        duplicates: { 'replaced by its producer': 1 },
      });
    });
  });

  describe('on duplicates', () => {
    test.each(['failed', 'deferred'] as const)('an attempt that %s explains the next one', (how) => {
      const again = [start(604, { by: OTHER, due: 604 }), end(605, 'handled', OTHER)];
      const { red, duplicates } = judged([...OFFERED, start(103), end(104, how), ...again]);
      expect(red).toEqual([]);
      expect(Object.values(duplicates)).toEqual([1]);
    });

    test('a handler that returns again() explains the next start, if that start has the new content', () => {
      const asked = [start(103), end(104, 'again'), settled(106, { outcome: 'again' })];
      const next = [start(460, { by: OTHER, due: 454, version: 1 }), end(461, 'handled', OTHER)];
      expect(judged([...OFFERED, ...asked, ...next])).toMatchObject({
        red: [],
        duplicates: { 'asked for again by its handler': 1 },
      });
    });

    test('a handler that returns again() does not explain a start with the old content', () => {
      const asked = [start(103), end(104, 'again'), settled(106, { outcome: 'again' })];
      const before = [start(460, { by: OTHER, due: 454 }), end(461, 'again', OTHER)];
      const next = [start(860, { by: OTHER, due: 854, version: 1 }), end(861, 'handled', OTHER)];
      expect(judged([...OFFERED, ...asked, ...before, ...next]).red).toEqual(['unattributed']);
    });

    test('a message whose redelivery by again() never starts is reported as lost', () => {
      const asked = [start(103), end(104, 'again'), settled(106, { outcome: 'again' })];
      expect(judged([...OFFERED, ...asked]).red).toEqual(['lost']);
    });

    test('content that was neither offered nor passed to again() is corrupt', () => {
      const next = [start(103, { version: 1 }), end(104)];
      expect(judged([...OFFERED, ...next]).red).toContain('corrupt');
    });

    test('a fault that affected the holder while it held the message explains the next start', () => {
      const verdict = judged([...OFFERED, start(103), ...HANDLED_AGAIN], [fault(104, 200)]);
      expect(verdict).toMatchObject({ red: [], duplicates: { 'worker killed': 1 } });
    });

    test.each([
      ['no fault at all', []],
      ['a fault that affected others', [fault(104, 200, [OTHER])]],
      ['a fault that ended before', [fault(10, 100)]],
      ['a fault that began afterwards', [fault(3104, 3200)]],
    ])('%s does not explain the next start', (_what, windows) => {
      const { red, unattributed } = judged([...OFFERED, start(103), ...HANDLED_AGAIN], windows);
      expect(red).toEqual(['unattributed']);
      expect(unattributed.examples[0]).toContain('never settled');
    });

    test.each([
      ['a fault that cannot end a lease', { at: 3103, attempt: 2 }, { ...fault(104, 200), costsLeases: false }],
      ['a lease that could not have ended yet', { at: 3100, attempt: 2 }, fault(104, 200)],
      ['a lease without a spent attempt', { at: 3103, attempt: 1 }, fault(104, 200)],
    ])('%s does not explain the next start', (_what, { at, attempt }, window) => {
      const again = [start(at, { by: OTHER, attempt }), end(at + 1, 'handled', OTHER)];
      expect(judged([...OFFERED, start(103), ...again], [window]).red).toEqual(['unattributed']);
    });

    test('a start after another process has started the message is explained only by a fault that froze the holder', () => {
      const late = [start(3200, { claimSentAt: 101 }), end(3201), settled(3203, { result: 'refused' })];
      const lines = [...OFFERED, ...HANDLED_AGAIN, ...late];
      expect(judged(lines).red).toEqual(['unattributed']);
      expect(judged(lines, [fault(102, 3199)])).toMatchObject({ red: [], duplicates: { 'frozen on starting it': 1 } });
    });

    test('a handler aborted by a shutdown explains the next start', () => {
      const gaveWay = [start(103), end(4104, 'aborted'), settled(4106, { outcome: 'release' })];
      const again = [start(4109, { by: OTHER }), end(4110, 'handled', OTHER)];
      expect(judged([...OFFERED, ...gaveWay, ...again])).toMatchObject({
        red: [],
        duplicates: { 'released for a shutdown': 1 },
      });
    });

    test('a handler aborted because its lease could not be extended explains the next start only together with a fault', () => {
      const gaveWay = [start(103), end(3104, 'aborted'), settled(3106, { outcome: 'retry' })];
      const again = [start(3509, { by: OTHER, due: 3504, attempt: 2 }), end(3510, 'handled', OTHER)];
      expect(judged([...OFFERED, ...gaveWay, ...again]).red).toEqual(['unattributed']);
      expect(judged([...OFFERED, ...gaveWay, ...again], [fault(200, 3000, 'all')]).red).toEqual([]);
    });

    test('no fault explains a start after an accepted ack', () => {
      const verdict = judged([...OFFERED, ...HANDLED, ...HANDLED_AGAIN], [fault(0, 4000, 'all')]);
      expect(verdict.red).toEqual(['unattributed']);
    });

    test('an offer with an unknown outcome explains a start even after an accepted ack', () => {
      const again = [start(205, { by: OTHER, due: 203 }), end(206, 'handled', OTHER)];
      const verdict = judged([offer(0, 99), unknown(50), offer(104, 99), offered(106, 203), ...HANDLED, ...again]);
      expect(verdict).toMatchObject({ red: [], duplicates: { 'offered again after an unknown outcome': 1 } });
    });

    test('an offer with an unknown outcome explains a start even after two attempts and their accepted ack', () => {
      const next = [start(4000, { by: OTHER, due: 3990, claimSentAt: 3991 }), end(4001, 'handled', OTHER)];
      const story = (first: Line) => [first, offer(3900, 90), offered(3902, 3990), ...HANDLED_AGAIN, ...next];
      const failed = [start(103), end(104, 'failed'), settled(106, { outcome: 'retry' })];
      expect(judged([offer(0, 99), ...story(unknown(50)), ...failed]).red).toEqual([]);
      expect(judged([offer(0, 99), ...story(offered(2, 101)), ...failed]).red).toContain('unattributed');
    });

    test('a message that was offered twice may be redelivered by again() twice', () => {
      const offers = [offer(0, 99), unknown(50), offer(104, 99), offered(106, 203)];
      const asks = [
        ...[start(103), end(104, 'again'), settled(106, { outcome: 'again' })],
        ...[start(205, { by: OTHER, due: 203 }), end(206, 'again', OTHER)],
      ];
      const accepted = settled(208, { by: OTHER, outcome: 'again' });
      const next = [
        ...[start(460, { by: 4, due: 454, version: 1 }), end(461, 'handled', 4), settled(463, { by: 4 })],
        ...[start(560, { by: 5, due: 554, version: 1 }), end(561, 'handled', 5)],
      ];
      expect(judged([...offers, ...asks, accepted, ...next])).toMatchObject({
        red: [],
        duplicates: { 'offered again after an unknown outcome': 1, 'asked for again by its handler': 2 },
      });
      const unanswered = settled(208, { by: OTHER, outcome: 'again', result: 'unknown' });
      expect(judged([...offers, ...asks, unanswered, ...next]).red).toEqual([]);
      const ackUnknown = next.map(([by, entry]): Line => [
        by,
        entry.kind === 'settled' ? { ...entry, result: 'unknown' } : entry,
      ]);
      expect(judged([...offers, ...asks, accepted, ...ackUnknown]).red).toEqual([]);
      const killed = next.filter(([, { kind }]) => kind !== 'settled');
      expect(judged([...offers, ...asks, accepted, ...killed]).red).toEqual([]);
      const refused = settled(208, { by: OTHER, outcome: 'again', result: 'refused' });
      expect(judged([...offers, ...asks, refused, ...next]).red).toEqual(['unattributed']);
    });

    test('each start of a message that was offered again after an unknown outcome has a cause, but none after both were handled', () => {
      const offers = [offer(0, 99), unknown(50), offer(49_000, 999), offered(49_002, 50_000)];
      for (const first of lives()) {
        for (const second of lives()) {
          const { lines, windows, process } = lived([...first, 'offered again', ...second]);
          expect({ first, second, red: judged([...offers, ...lines], windows).red }).toMatchObject({ red: [] });
          const version = second.includes('again') ? 1 : 0;
          const ghost = start(99_000, { by: process, due: 98_000, version, attempt: 9 });
          const { red } = judged([...offers, ...lines, ghost], windows);
          expect({ first, second, red }).toMatchObject({ red: ['unattributed'] });
        }
      }
    });

    test('claims of one attempt are ordered by their due times, however late their replies', () => {
      const again = [start(505, { by: OTHER, due: 504, claimSentAt: 50 }), end(506, 'handled', OTHER)];
      const putOff = [start(103), end(104, 'deferred'), settled(106, { outcome: 'defer' })];
      expect(judged([...OFFERED, ...putOff, ...again, settled(508, { by: OTHER })])).toMatchObject({
        red: [],
        duplicates: { 'deferred by its handler': 1 },
      });
    });

    test('a stall of the machine explains the next start', () => {
      const stall: Line = [WORKER, { kind: 'stall', from: 200, at: 3500 }];
      const verdict = judged([...OFFERED, start(103), ...HANDLED_AGAIN, stall]);
      expect(verdict).toMatchObject({ red: [], duplicates: { 'stalled by the machine': 1 } });
    });
  });

  describe('on attempts and offers delayed by an observer', () => {
    const heldUp = [start(103), end(20_103, 'hung')];
    const again = (due: number, attempt: number) => [
      start(due, { by: OTHER, due, attempt }),
      end(due + 1, 'handled', OTHER),
    ];
    const afterLease = [start(28_103, { by: OTHER, attempt: 2 }), end(28_104, 'handled', OTHER)];

    test('a failure at the timeout explains the next start', () => {
      const failed = [...heldUp, settled(20_105, { outcome: 'retry' })];
      expect(judged([...OFFERED, ...failed, ...again(20_404, 2)])).toMatchObject({
        red: [],
        duplicates: { 'held up by an observer': 1 },
      });
    });

    test('a retry after a timeout is early if it starts before the end of the backoff', () => {
      const failed = [...heldUp, settled(20_105, { outcome: 'retry' })];
      expect(judged([...OFFERED, ...failed, ...again(20_402, 2)]).red).toEqual(['early']);
    });

    test.each([
      ['that spent no attempt', { outcome: 'retry' }, 1],
      ['whose message was acknowledged', { outcome: 'ack' }, 2],
      ['whose outcome was refused', { outcome: 'retry', result: 'refused' }, 1],
    ] as const)('an attempt %s does not explain the next start', (_what, answer, attempt) => {
      const ended = [...heldUp, settled(20_105, answer)];
      const next = [start(20_504, { by: OTHER, attempt }), end(20_505, 'handled', OTHER)];
      expect(judged([...OFFERED, ...ended, ...next]).red).toContain('unattributed');
    });

    test('the end of the lease explains the next start if the process stopped before it settled the attempt', () => {
      expect(judged([...OFFERED, ...heldUp, ...afterLease]).duplicates).toEqual({ 'held up by an observer': 1 });
      const tooSoon = [start(3100, { by: OTHER, attempt: 2 }), end(3101, 'handled', OTHER)];
      expect(judged([...OFFERED, ...heldUp, ...tooSoon]).red).toEqual(['unattributed']);
    });

    test('a message whose retry never starts is reported as lost', () => {
      const failed = [...heldUp, settled(20_105, { outcome: 'retry' })];
      expect(judged([...OFFERED, ...failed]).red).toEqual(['lost']);
    });

    test('an attempt that never ends while its process lives is reported as lost', () => {
      expect(judged([...OFFERED, start(103)]).red).toEqual(['lost']);
    });

    test('an offer that was delayed by an observer and failed must not have been written', () => {
      expect(judged([offer(0, 99), failed(2002), ...HANDLED]).red).toEqual(['early']);
    });
  });

  describe('on the results of batch handlers', () => {
    test('a row mistaken for a failure does not explain another start', () => {
      const retried = [start(103), end(104), settled(106, { outcome: 'retry' })];
      const again = [start(504, { by: OTHER, due: 504, attempt: 2 }), end(505, 'handled', OTHER)];
      expect(judged([...OFFERED, ...retried, ...again]).red).toContain('unattributed');
    });

    test('a message whose promise was rejected but that was acknowledged is reported as lost', () => {
      expect(judged([...OFFERED, start(103), end(104, 'failed'), settled(106)]).red).toEqual(['lost']);
    });
  });

  describe('on a deleted key', () => {
    const deleted: FaultWindow = { ...fault(50, 5000, []), kind: 'delayed deleted', costsLeases: false };
    const lateBy = (late: number) => [
      start(100 + late, { claimSentAt: 98 + late }),
      end(101 + late),
      settled(103 + late),
    ];

    test('messages may be late until the key is repaired', () => {
      expect(judged([...OFFERED, ...lateBy(4800)], [deleted])).toMatchObject({
        red: [],
        lateness: { inFaults: { count: 1, max: 4800 }, outside: { count: 0 } },
      });
    });

    test('messages that a repair makes due too soon are early, and corrupt if the due time was changed', () => {
      expect(judged([...OFFERED, ...lateBy(-20)], [deleted]).red).toEqual(['early']);
      const moved = [start(80, { due: 80 }), end(81), settled(83)];
      expect(judged([...OFFERED, ...moved], [deleted]).red).toEqual(['early', 'corrupt']);
    });

    test('messages that no repair restores are reported as lost', () => {
      expect(judged(OFFERED, [deleted]).red).toEqual(['lost']);
    });

    test('the deletion explains neither a second start nor a claim that holds messages for too long', () => {
      expect(judged([...OFFERED, start(103), ...HANDLED_AGAIN], [deleted]).red).toEqual(['unattributed']);
      const late = [start(9103, { claimSentAt: 9100 }), end(9104), settled(9106)];
      expect(judged([...OFFERED, held(200, 9000), ...late], [deleted]).red).toEqual(['hostage']);
    });
  });

  describe('on stale settlements', () => {
    const late = (result: SettledEntry['result']) =>
      judged([...OFFERED, start(103), ...HANDLED_AGAIN, end(5000), settled(5002, { result })], [fault(104, 4990)]);

    test('an outcome accepted after the message has been started under another claim counts as stale', () => {
      expect(late('accepted').staleSettles).toMatchObject({ count: 1 });
    });

    test('an outcome refused after the message has been started under another claim proves fencing', () => {
      expect(late('refused')).toMatchObject({ red: [], refusedSettles: 1 });
    });

    test('an outcome accepted after the message was replaced is stale', () => {
      const replaced = [...OFFERED, start(103), offer(105, 100, 1), offered(107, 206, 1), end(110), settled(112)];
      const handled = [start(207, { by: OTHER, due: 206, version: 1 }), end(208, 'handled', OTHER)];
      expect(judged([...replaced, ...handled]).red).toEqual(['staleSettles']);
    });
  });

  describe('on changed content', () => {
    const changed = [offer(50, 100, 1, { how: 'change' }), offered(52, null, 1)];
    const handled = [start(155, { due: 151, version: 1 }), end(156), settled(158)];

    test('a message that was changed in time is handled with the new content, once', () => {
      expect(judged([...OFFERED, ...changed, ...handled])).toMatchObject({ red: [], changed: 1 });
    });

    test('a message that was changed but handled as offered is lost and has two winners', () => {
      expect(judged([...OFFERED, ...changed, ...HANDLED]).red).toEqual(['lost', 'early', 'revived', 'staleSettles']);
    });

    test('a change that arrives too late leaves the message as offered', () => {
      const tooLate = [offer(102, 100, 1, { how: 'change' }), failed(104, 1)];
      expect(judged([...OFFERED, ...tooLate, ...HANDLED])).toMatchObject({ red: [], changed: 0 });
    });

    test('a message that is changed after it was handled as offered has two winners', () => {
      const late = [offer(107, 100, 1, { how: 'change' }), offered(109, null, 1)];
      const again = [start(210, { by: OTHER, due: 208, version: 1 }), end(211, 'handled', OTHER)];
      expect(judged([...OFFERED, ...HANDLED, ...late, ...again]).red).toEqual(['staleSettles']);
    });
  });

  describe('on followers', () => {
    const follow = [offer(103, 20, 1, { how: 'follow' }), offered(105, null, 1)];
    const follower = [start(128, { by: OTHER, due: 126, version: 1 }), end(129, 'handled', OTHER)];

    test('a follower is handled after the message that it follows', () => {
      const verdict = judged([...OFFERED, ...HANDLED, ...follow, ...follower, settled(131, { by: OTHER })]);
      expect(verdict).toMatchObject({ red: [], followed: 1, duplicates: { 'its follower': 1 } });
    });

    test('a message whose lease ends at the same time as a follower is offered is handled again before it', () => {
      const takenOver = [start(103), ...HANDLED_AGAIN];
      const later = [start(3208, { by: 4, due: 3206, version: 1 }), end(3209, 'handled', 4)];
      expect(judged([...OFFERED, ...takenOver, ...follow, ...later], [fault(104, 3000)]).red).toEqual([]);
    });

    test.each([
      ['a follower', [...HANDLED]],
      ['the followed message', follower],
    ])('%s counts as lost if only the other one is handled', (_what, lines) => {
      expect(judged([...OFFERED, ...follow, ...lines]).red).toEqual(['lost']);
    });

    test('a message that Redis forgot before it could be followed is lost only by Redis', () => {
      const created = [offer(120, 20, 1, { how: 'follow' }), offered(122, 142, 1)];
      const handled = [start(145, { by: OTHER, due: 142, version: 1 }), end(146, 'handled', OTHER)];
      const forgotten = [forgetting(0, 60, 0)];
      expect(judged([...OFFERED, ...created, ...handled], forgotten)).toMatchObject({
        red: [],
        lostByRedis: { count: 1 },
      });
      expect(judged([...OFFERED, ...created], forgotten)).toMatchObject({
        red: ['lost'],
        lostByRedis: { count: 1 },
      });
    });

    test('a message settled as a follower may itself be followed', () => {
      const unanswered = [offer(103, 20, 1, { how: 'follow' }), unknown(104, 1)];
      const active = [start(128, { by: OTHER, due: 126, version: 1 })];
      const next = [offer(130, 20, 2, { how: 'follow' }), offered(132, null, 2)];
      const settledFirst = [end(140, 'handled', OTHER), settled(142, { by: OTHER })];
      const last = [start(165, { by: 4, due: 162, version: 2 }), end(166, 'handled', 4)];
      const lines = [...OFFERED, ...HANDLED, ...unanswered, ...active, ...next, ...settledFirst, ...last];
      expect(judged(lines).red).toEqual([]);
    });

    test('a follower that is due before the end of its delay is early', () => {
      const early = [start(118, { by: OTHER, due: 117, version: 1 }), end(119, 'handled', OTHER)];
      expect(judged([...OFFERED, ...HANDLED, ...follow, ...early]).red).toEqual(['early']);
    });

    test('a second start of a follower is reported if nothing explains it', () => {
      const twice = [start(228, { by: 4, due: 126, version: 1 }), end(229, 'handled', 4)];
      const verdict = judged([...OFFERED, ...HANDLED, ...follow, ...follower, settled(131, { by: OTHER }), ...twice]);
      expect(verdict.red).toEqual(['unattributed']);
    });

    test('an offer that found no message to follow need not be handled', () => {
      const kept = [offer(50, 20, 1, { how: 'follow' }), failed(52, 1)];
      expect(judged([...OFFERED, ...kept, ...HANDLED]).red).toEqual([]);
    });
  });

  describe('on aborts', () => {
    const aborted = (at: number): Line[] => [
      [PRODUCER, { kind: 'abort', n: N, at: at - 1 }],
      [PRODUCER, { kind: 'aborted', n: N, at, result: 'done' }],
    ];

    test('an aborted message need not be handled', () => {
      const stopped = [start(103), end(203, 'aborted'), settled(205, { result: 'refused' })];
      expect(judged([...OFFERED, ...stopped, ...aborted(202)])).toMatchObject({ red: [], aborted: 1 });
    });

    test('an aborted message whose outcome is accepted has two winners', () => {
      expect(judged([...OFFERED, start(103), ...aborted(202), end(203), settled(205)]).red).toEqual(['staleSettles']);
      expect(judged([...OFFERED, ...HANDLED, ...aborted(202)]).red).toEqual(['staleSettles']);
    });

    test('a message claimed after it was aborted counts as revived', () => {
      const again = [start(3103, { by: OTHER, attempt: 2 }), end(3104, 'handled', OTHER)];
      const verdict = judged([...OFFERED, start(103), ...aborted(202), ...again], [fault(104, 3000)]);
      expect(verdict.red).toEqual(['revived']);
    });

    test('a message that could not be aborted must be handled', () => {
      const refused: Line[] = [
        [PRODUCER, { kind: 'abort', n: N, at: 50 }],
        [PRODUCER, { kind: 'aborted', n: N, at: 51, result: 'refused' }],
      ];
      expect(judged([...OFFERED, ...refused]).red).toEqual(['lost']);
      expect(judged([...OFFERED, ...refused, ...HANDLED]).red).toEqual([]);
    });
  });

  describe('on expiry', () => {
    const EXPIRING = [offer(0, 99, 0, { expiresAfter: 500 }), offered(2, 100)];
    const expired = (at: number): Line => [WORKER, { kind: 'expired', n: N, at }];

    test('an expired message need not be handled', () => {
      expect(judged([...EXPIRING, expired(602)])).toMatchObject({ red: [], expired: 1 });
    });

    test('an expired message that disappears without an outcome is lost', () => {
      expect(judged(EXPIRING).red).toEqual(['lost']);
    });

    test('a message removed as expired before its expiry is reported', () => {
      expect(judged([...EXPIRING, expired(98)]).red).toEqual(['expiry']);
    });

    test('a message claimed after it has expired must not be handled', () => {
      expect(judged([...EXPIRING, start(605, { claimSentAt: 602 }), end(606), settled(608)]).red).toEqual(['expiry']);
      expect(judged([...EXPIRING, start(605, { claimSentAt: 599 }), end(606), settled(608)]).red).toEqual([]);
    });

    test('a message whose claim was answered after its expiry must not be handled', () => {
      const by = (at: number) => [...EXPIRING, start(at, { claimSentAt: 598 }), end(at + 1), settled(at + 3)];
      expect(judged(by(605)).red).toEqual([]);
      expect(judged(by(2098)).red).toEqual(['expiry']);
    });

    test('a retry after the expiry of its message must not be handled', () => {
      const retried = [start(103), end(104, 'failed'), settled(106, { outcome: 'retry' })];
      const late = [start(702, { by: OTHER, due: 700, claimSentAt: 701, attempt: 2 }), end(703, 'handled', OTHER)];
      expect(judged([...EXPIRING, ...retried, ...late]).red).toEqual(['expiry']);
      expect(judged([...EXPIRING, ...retried, expired(702)]).red).toEqual([]);
    });

    test('a message without an expiry is lost if a worker removes it as expired', () => {
      expect(judged([...OFFERED, expired(602)]).red).toEqual(['lost']);
    });
  });

  test('lateness during and shortly after faults is reported separately from all other lateness', () => {
    const lines = [...OFFERED, start(1103), end(1104)];
    expect(judged(lines, [fault(40, 60)]).lateness).toMatchObject({
      inFaults: { count: 1, p50: 1003, max: 1003 },
      outside: { count: 0 },
      seconds: [{ second: 0, count: 1, p99: 1003 }],
    });
    expect(judged(lines, [fault(40, 49), fault(1104, 1200)]).lateness).toMatchObject({ outside: { count: 1 } });
  });
});
