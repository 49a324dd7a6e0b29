import { describe, expect, it } from '@jest/globals';
import { readAnnouncement } from '../../lib/store/native/script-replies.js';

/** What a listener in database 3 receives. */
function announcedIn(text: string): unknown[] {
  const announced: unknown[] = [];
  readAnnouncement(text, '3', {
    onEarlierDue: (due) => announced.push(due),
    onTransfer: (transfer) => announced.push(transfer),
    onAbort: (claim) => announced.push(claim),
  });
  return announced;
}

describe('an announcement', () => {
  it.each([
    ['1000 250 3', { dueAt: 1000, dueIn: 250 }],
    ['1000 250e-3 3', { dueAt: 1000, dueIn: 0.25 }],
    ['transfer s 5000 2 7000 90 3', { scheduler: 's', at: 7, movedAt: 5, ready: 2, nextAt: 90, nextIn: 83 }],
    ['transfer s -1 0 7000 -1 3', { scheduler: 's', at: 7, movedAt: null, ready: 0, nextAt: null, nextIn: null }],
    ['abort token an id with spaces 0', { token: 'token', id: 'an id with spaces 0' }],
  ])('reaches the listener if it comes from the same database: %s', (text, expected) => {
    expect(announcedIn(text)).toEqual([expected]);
  });

  it.each(['1000 250 0', '1000 250 33', '1000 250 three', 'transfer s 5000 2 7000 90 0'])(
    'is ignored if it comes from another database: %s',
    (text) => expect(announcedIn(text)).toEqual([]),
  );

  it.each([
    ['1000 250', [{ dueAt: 1000, dueIn: 250 }]],
    ['transfer s 5000 2 7000 90', [{ dueAt: 90, dueIn: 83 }]],
    ['transfer s 5000 2 7000 -1', []],
  ])('is read only for its due time if it names no database: %s', (text, expected) => {
    expect(announcedIn(text)).toEqual(expected);
  });

  it.each([
    '',
    'hello',
    'partitions',
    'groups? 1 hold 3',
    '1000',
    'NaN 1 3',
    'transfer',
    'transfer s 1 2 x 4 3',
    'abort',
  ])('is ignored if it cannot be read: %p', (text) => expect(announcedIn(text)).toEqual([]));
});
