import { describe, expect, it, test } from '@jest/globals';
import { ExportDigest } from '../../lib/export/export-digest.js';
import {
  type ExportLine,
  lineOf,
  type MessageLine,
  messageOf,
  readLine,
  writeLine,
} from '../../lib/export/export-line.js';

const MESSAGE: MessageLine = {
  ...{ kind: 'message', id: 'a', due: 5, offered: 1, failed: 2, rank: 5.25, held: true, body: 'J1' },
  ...{ died: { at: 7, error: '{}' }, follower: { after: 3, body: 'J2' } },
};

function digestOf(...lines: ExportLine[]): string {
  const digest = new ExportDigest();
  for (const line of lines) digest.add(line);
  return String(digest);
}

describe('the digest of an export', () => {
  const other = { ...MESSAGE, id: 'b' };

  it.each<[string, Partial<MessageLine>]>([
    ['the id', { id: 'c' }],
    ['the due time', { due: 6 }],
    ['the time of the offer', { offered: 2 }],
    ['failed attempts', { failed: 3 }],
    ['the body', { body: 'J3' }],
    ['the form of the body', { body: undefined, base64: 'SjE=' }],
    ['the time of death', { died: { at: 8, error: '{}' } }],
    ['the error', { died: { at: 7, error: '{"name":"x"}' } }],
    ["the follower's body", { follower: { after: 3, body: 'J3' } }],
    ["the follower's delay", { follower: { after: 4, body: 'J2' } }],
    ["the follower's due time", { follower: { at: 3, body: 'J2' } }],
  ])('depends on %s', (_what, change) => {
    expect(digestOf({ ...MESSAGE, ...change })).not.toBe(digestOf(MESSAGE));
  });

  it.each<[string, ExportLine, ExportLine]>([
    [
      'limits',
      { kind: 'settings', paused: false },
      { kind: 'settings', paused: false, limits: { rate: null, by: '', at: 1 } },
    ],
    [
      'a limit that the options decide, and one that is none',
      { kind: 'settings', paused: false, limits: { globalConcurrency: null, by: '', at: 1 } },
      { kind: 'settings', paused: false, limits: { by: '', at: 1 } },
    ],
    ['pauses of groups', { kind: 'group', group: 'g', paused: true }, { kind: 'group', group: 'g', paused: false }],
    [
      'the concurrency of groups',
      { kind: 'group', group: 'g', paused: true },
      { kind: 'group', group: 'g', paused: true, concurrency: 'unlimited' },
    ],
    ['declarations', { kind: 'declared', id: 'a' }, { kind: 'declared', id: 'b' }],
  ])('depends on %s', (_what, one, another) => {
    expect(digestOf(one)).not.toBe(digestOf(another));
  });

  it('does not depend on the order of lines', () => {
    expect(digestOf(MESSAGE, other)).toBe(digestOf(other, MESSAGE));
  });

  it('of a message that comes twice is not that of none', () => {
    expect(digestOf(MESSAGE, MESSAGE)).not.toBe(digestOf());
  });

  it('does not depend on what a move may change', () => {
    const { rank: _, held: __, ...rest } = MESSAGE;
    expect(digestOf(rest)).toBe(digestOf(MESSAGE));
    const limits = { globalConcurrency: 5, by: 'alice', at: 1 };
    expect(digestOf({ kind: 'settings', paused: true, limits })).toBe(
      digestOf({ kind: 'settings', paused: false, limits: { ...limits, by: 'bob', at: 2 } }),
    );
  });
});

describe('a line of an export', () => {
  test('has no character that a terminal would obey or that would end the line, and stays the same', () => {
    const line = { ...MESSAGE, body: 'J"\u0000\u001b[31m\n\r\u0085\u009b\u200e\u2028\u2029\u{e0001}é😀"' };
    const written = writeLine(line);
    expect(written).toMatch(/^[^\p{Control}\p{Format}\u2028\u2029]*$/u);
    expect(written).toContain('é😀');
    expect(readLine(written, 1)).toEqual(line);
  });

  test('keeps bodies that are not UTF-8', () => {
    const body = Buffer.from([0xff, 0xfe, 10, 0]);
    const message = {
      ...{ id: 'a', state: 'delayed' as const, dueAt: 5, offeredAt: 1, failedAttempts: 0, death: null, isHeld: false },
      body,
    };
    const line = lineOf({ ...message, follower: { due: { at: 9 }, body } });
    expect(line).toMatchObject({ base64: '//4KAA==', follower: { at: 9, base64: '//4KAA==' } });
    const read = messageOf(readLine(writeLine(line), 1) as MessageLine, 1);
    expect(read.body.equals(body)).toBe(true);
    expect(read.follower!.body.equals(body)).toBe(true);
  });

  test('may have fields that this version does not know', () => {
    expect(readLine(JSON.stringify({ ...MESSAGE, new: 1 }), 1)).toEqual(MESSAGE);
  });
});
