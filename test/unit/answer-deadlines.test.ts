import { beforeEach, describe, expect, it } from '@jest/globals';
import { AnswerDeadlines } from '../../lib/store/redis/answer-deadlines.js';
import { ManualClock } from '../support/manual-clock.js';

describe('AnswerDeadlines', () => {
  let clock: ManualClock;
  let deadlines: AnswerDeadlines;
  let late: string[];

  beforeEach(() => {
    clock = new ManualClock();
    deadlines = new AnswerDeadlines(clock);
    late = [];
  });

  const add = (name: string, limit: number) => deadlines.add(limit, () => late.push(name));

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
      deadlines.add(limit, () => at.push([name, clock.monotonic() - start]));
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
    const answered = add('c', 1000);
    answered();
    await clock.advance(1000);
    expect(clock.pendingTimers).toBe(0);
  });
});
