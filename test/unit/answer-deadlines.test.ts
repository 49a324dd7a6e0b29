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

  it('reports an answer as late once its time is up, and not before', async () => {
    add('a', 1000);
    await clock.advance(999);
    expect(late).toEqual([]);
    await clock.advance(1);
    expect(late).toEqual(['a']);
    await clock.advance(10_000);
    expect(late).toEqual(['a']);
  });

  it('never reports an answer as late once it has arrived', async () => {
    const answered = add('a', 1000);
    await clock.advance(500);
    answered();
    await clock.advance(10_000);
    expect(late).toEqual([]);
  });

  it('keeps a deadline for each answer, whatever the order of the requests', async () => {
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

  it('tells how long the oldest unanswered request has been waiting', async () => {
    expect(deadlines.maxWait).toBe(0);
    const answered = add('a', 5000);
    await clock.advance(700);
    add('b', 5000);
    await clock.advance(200);
    expect(deadlines.maxWait).toBe(900);
    answered();
    expect(deadlines.maxWait).toBe(200);
  });

  it("reports an unresponsive connection as silent when the caller's time is up", async () => {
    add('a', 1000);
    await clock.advance(999);
    expect(silent).toEqual([]);
    await clock.advance(1);
    expect(silent).toEqual([1000]);
    await clock.advance(10_000);
    expect(silent).toEqual([1000]);
  });

  it('reports an answer as late for its caller before it reports the connection as silent', async () => {
    add('short', 23, 1000);
    await clock.advance(999);
    expect(late).toEqual(['short']);
    expect(silent).toEqual([]);
    await clock.advance(1);
    expect(silent).toEqual([1000]);
    expect(late).toEqual(['short']);
  });

  it('counts an answer as a sign of life of the connection even if it is too late for its caller', async () => {
    const answered = add('short', 23, 1000);
    await clock.advance(150);
    answered();
    await clock.advance(10_000);
    expect(late).toEqual(['short']);
    expect(silent).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("measures a connection's silence from its last answer", async () => {
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

  it('needs only one timer for all deadlines', () => {
    for (let i = 0; i < 100; i++) add(`m${i}`, 1000 + i);
    expect(clock.pendingTimers).toBe(1);
  });

  it('leaves no timer behind once all deadlines have ended', async () => {
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
