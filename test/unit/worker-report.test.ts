import { describe, expect, it } from '@jest/globals';
import { type OwnQueue, type OwnReport, readReport, writeReport } from '../../lib/heartbeat/worker-report.js';

const AT = Date.UTC(2030, 0, 1);

const idle: OwnQueue = {
  queue: 'orders',
  slots: 16,
  used: 0,
  handled: 0,
  failed: 0,
  longest: undefined,
  lateness: undefined,
};
const own: OwnReport = { host: 'a', pid: 7, version: '1.2.3', age: 60_000, queues: [idle] };
const readBack = (report: OwnReport) => readReport({ id: 'id', at: AT, report: writeReport(report) })!;

describe('the report of a worker', () => {
  it('is read as it was written, with times by the clock of the store', () => {
    const longest = { id: 'm"\u{1f600}\n', type: 'created', age: 1500 };
    const busy = { ...idle, queue: 'mails', used: 3, handled: 5, failed: 1, longest, lateness: { p50: 0, p99: 12 } };
    expect(readBack({ ...own, queues: [busy, idle] })).toEqual({
      ...{ id: 'id', host: 'a', pid: 7, version: '1.2.3' },
      startedAt: new Date(AT - 60_000),
      seenAt: new Date(AT),
      queues: [
        {
          ...{ queue: 'mails', slots: 16, used: 3, handled: 5, failed: 1 },
          longest: { id: longest.id, type: 'created', since: new Date(AT - 1500) },
          lateness: { p50: 0, p99: 12 },
        },
        { queue: 'orders', slots: 16, used: 0, handled: 0, failed: 0 },
      ],
    });
  });

  it('contains at most a hundred queues, the first ones', () => {
    const queues = Array.from({ length: 150 }, (_, i) => ({ ...idle, queue: `q${i}` }));
    expect(readBack({ ...own, queues }).queues.map(({ queue }) => queue)).toEqual(
      queues.slice(0, 100).map(({ queue }) => queue),
    );
  });

  it('is no longer than about 8 KiB, whatever the names', () => {
    const longest = { id: 'é'.repeat(120), type: 't'.repeat(64), age: 1 };
    const queues = Array.from({ length: 100 }, (_, i) => ({ ...idle, queue: `${'q'.repeat(120)}${i}`, longest }));
    const text = writeReport({ ...own, queues });
    expect(Buffer.byteLength(text)).toBeLessThan(8192 + 500);
    expect(readReport({ id: 'id', at: AT, report: text })!.queues.length).toBeGreaterThan(10);
  });

  it.each([
    ['no JSON', '{'],
    ['no object', 'null'],
    ['a number', '1'],
    ['no host', JSON.stringify({ pid: 1, version: '1', age: 1, queues: [] })],
    ['a wrong pid', JSON.stringify({ host: 'a', pid: '1', version: '1', age: 1, queues: [] })],
    ['no list', JSON.stringify({ host: 'a', pid: 1, version: '1', age: 1, queues: {} })],
    ['a wrong queue', JSON.stringify({ host: 'a', pid: 1, version: '1', age: 1, queues: [['orders', 'x']] })],
    ['no queue', JSON.stringify({ host: 'a', pid: 1, version: '1', age: 1, queues: [{}] })],
  ])('that something else has written is ignored: %s', (_, report) => {
    expect(readReport({ id: 'id', at: AT, report })).toBeUndefined();
  });
});
