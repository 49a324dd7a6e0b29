import { beforeEach, describe, expect, it } from '@jest/globals';
import { AnswerDeadlines } from '../../lib/redis/connection/answer-deadlines.js';
import { ManualClock } from '../support/manual-clock.js';

describe('AnswerDeadlines', () => {
  let clock: ManualClock;
  let deadlines: AnswerDeadlines;
  let late: string[];
  /** When the connection was found silent, ms after the start. */
  let silent: number[];

  beforeEach(() => {
    clock = new ManualClock();
    const start = clock.monotonic();
    deadlines = new AnswerDeadlines(clock, () => silent.push(clock.monotonic() - start));
    [late, silent] = [[], []];
  });

  function expectAnswer(limit: number, patience: number, onLate: () => void): () => void {
    const sentAt = clock.monotonic();
    const deadline = { at: sentAt + limit, sentAt, patience, onLate };
    deadlines.add(deadline);
    return () => deadlines.answered(deadline);
  }

  const add = (name: string, limit: number, patience = limit) => expectAnswer(limit, patience, () => late.push(name));

  it('an answer is late once its time is up, and not before', async () => {
    add('a', 1000);
    await clock.advance(999);
    expect(late).toEqual([]);
    await clock.advance(1);
    expect(late).toEqual(['a']);
    await clock.advance(10_000);
    expect(late).toEqual(['a']);
  });

  it('an answer that has arrived is never late', async () => {
    const answered = add('a', 1000);
    await clock.advance(500);
    answered();
    await clock.advance(10_000);
    expect(late).toEqual([]);
  });

  it('each answer has its own deadline, in whatever order they were requested', async () => {
    const at: [string, number][] = [];
    const start = clock.monotonic();
    for (const [name, limit] of [
      ['slow', 5000],
      ['fast', 100],
      ['middle', 1000],
    ] as const) {
      expectAnswer(limit, limit, () => at.push([name, clock.monotonic() - start]));
    }
    await clock.advance(300);
    add('later', 200);
    await clock.advance(10_000);
    expect(at).toEqual([
      ['fast', 100],
      ['middle', 1000],
      ['slow', 5000],
    ]);
    expect(late).toEqual(['later']);
  });

  it('a connection that does not answer is silent once the time of a caller is up', async () => {
    add('a', 1000);
    await clock.advance(999);
    expect(silent).toEqual([]);
    await clock.advance(1);
    expect(silent).toEqual([1000]);
    await clock.advance(10_000);
    expect(silent).toEqual([1000]);
  });

  it('a caller with little time left is late alone, and the connection only after its own patience', async () => {
    add('short', 23, 1000);
    await clock.advance(999);
    expect(late).toEqual(['short']);
    expect(silent).toEqual([]);
    await clock.advance(1);
    expect(silent).toEqual([1000]);
    expect(late).toEqual(['short']);
  });

  it('an answer that comes too late for its caller is still an answer of the connection', async () => {
    const answered = add('short', 23, 1000);
    await clock.advance(150);
    answered();
    await clock.advance(10_000);
    expect(late).toEqual(['short']);
    expect(silent).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('a connection that answers others is silent only when that has ended', async () => {
    add('a', 1000);
    const others = [1, 2, 3].map(() => add('other', 1000));
    await clock.advance(400);
    others[0]!();
    await clock.advance(500);
    others[1]!();
    await clock.advance(999);
    others[2]!();
    expect(late).toEqual(['a', 'other']);
    await clock.advance(999);
    expect(silent).toEqual([]);
    await clock.advance(1);
    expect(silent).toEqual([2899]);
  });

  it('one timer serves all deadlines', () => {
    for (let i = 0; i < 100; i++) add(`m${i}`, 1000 + i);
    expect(clock.pendingTimers).toBe(1);
  });

  it('no timer is left once all deadlines have ended', async () => {
    add('a', 1000);
    add('b', 2000);
    deadlines.endAll();
    expect(late).toEqual(['a', 'b']);
    expect(clock.pendingTimers).toBe(0);
    expect(silent).toEqual([]);
    const answered = add('c', 1000);
    answered();
    await clock.advance(1000);
    expect(clock.pendingTimers).toBe(0);
  });
});
