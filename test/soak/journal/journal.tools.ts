import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readHistory } from '../oracle/read-history.js';
import { type Entry, parseEntry, writeEntry } from './entries.js';
import { Journal } from './journal.js';

const N = 4_000_000_000;

const ENTRIES: readonly Entry[] = [
  { kind: 'offer', n: N, version: 1, at: 10, delay: 20, how: 'offer', expiresAfter: 500 },
  { kind: 'offered', n: N, version: 1, at: 11, due: 31 },
  { kind: 'offer', n: N, version: 2, at: 11, delay: -5, how: 'follow', expiresAfter: null },
  { kind: 'offered', n: N, version: 2, at: 12, due: null },
  { kind: 'offer-failed', n: N, version: 0, at: 12 },
  { kind: 'offer-unknown', n: N, version: 0, at: 13 },
  { kind: 'cancel', n: N, at: 14 },
  { kind: 'cancelled', n: N, at: 15, result: 'refused' },
  { kind: 'reschedule', n: N, at: 16, delay: 40 },
  { kind: 'rescheduled', n: N, at: 17, result: 'unknown' },
  { kind: 'abort', n: N, at: 18 },
  { kind: 'aborted', n: N, at: 19, result: 'done' },
  { kind: 'expired', n: N, at: 20 },
  { kind: 'start', n: N, claim: 5, at: 32, claimSentAt: 30, due: 31, attempt: 3, version: 1, intact: false },
  { kind: 'end', n: N, claim: 5, at: 33, how: 'deferred' },
  { kind: 'settled', n: N, claim: 5, at: 35, sentAt: 34, outcome: 'defer', result: 'refused' },
  { kind: 'held', n: N, from: 34, at: 39 },
];

describe('a journal', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'journal-'));
    path = join(folder, '003-worker.journal');
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  test.each([...ENTRIES, { kind: 'stall', from: 1, at: 2 } as const, { kind: 'unreadable', at: 3 } as const])(
    'reads back each entry as it was written: $kind',
    (entry) => {
      expect(parseEntry(writeEntry(entry).trimEnd())).toEqual(entry);
    },
  );

  test('rejects a malformed line', () => {
    expect(() => parseEntry('? 1 2')).toThrow('Not a line of a journal');
    expect(() => parseEntry('e 1 2 3 9')).toThrow('Not a line of a journal');
  });

  test("returns each process's entries about a message, in order", async () => {
    const journal = new Journal(path, 0);
    await Promise.all(ENTRIES.map((entry) => journal.append(entry)));
    const stories = [...readHistory(folder).byMessage()];
    expect(stories).toEqual([{ n: N, entries: ENTRIES.map((entry) => ({ process: 3, ...entry })) }]);
  });

  test('writes the lines of one event-loop turn together, before their promises resolve', async () => {
    const journal = new Journal(path, 0);
    const first = journal.append(ENTRIES[0]!);
    void journal.append(ENTRIES[1]!);
    expect(readFileSync(path, 'utf8')).toBe('');
    await first;
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(3);
    await journal.append(ENTRIES[2]!);
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(4);
  });

  test('has every line on disk after a flush', () => {
    const journal = new Journal(path, 0);
    void journal.append(ENTRIES[0]!);
    journal.flush();
    expect(readFileSync(path, 'utf8')).toBe(writeEntry(ENTRIES[0]!));
  });

  test('may end in the middle of a line if its process was killed', () => {
    appendFileSync(path, `${writeEntry(ENTRIES[0]!)}o 4000`);
    expect(readHistory(folder)).toMatchObject({ messages: 1, entries: 1 });
  });

  test('counts time from the epoch of the run', () => {
    expect(new Journal(path, 1000).since(1500)).toBe(500);
  });

  test('has the correct time in a process whose clock is wrong', () => {
    const HOUR = 3_600_000;
    const before = Date.now();
    const journal = new Journal(path, before, -HOUR);
    expect(journal.now()).toBeGreaterThanOrEqual(HOUR);
    const rightTime = journal.rightTime();
    expect(rightTime).toBeGreaterThanOrEqual(before + HOUR);
    expect(rightTime).toBeLessThanOrEqual(Date.now() + HOUR);
  });
});
