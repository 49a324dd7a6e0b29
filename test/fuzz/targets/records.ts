import { handledMessageOf } from '../../../lib/history/handled-message.js';
import { lineOf, messageOf, readLine, writeLine } from '../../../lib/export/export-line.js';
import { readReport, writeReport } from '../../../lib/heartbeat/worker-report.js';
import { parseLimits } from '../../../lib/limits/set-limits.js';
import { nativeCodec } from '../../../lib/message/codec/native-codec.js';
import { readFailure } from '../../../lib/message/failure.js';
import { readAnnouncement, readHandled, readRecord, recordStart } from '../../../lib/store/native/script-replies.js';
import { parseCursor } from '../../../lib/store/page-cursor.js';
import type { ScannedMessage } from '../../../lib/store/message-past.js';
import { expectSame, orRefused, type Target } from '../target.js';

const TIMES = { dueAt: 1_700_000_000_000, offeredAt: 1_690_000_000_000 };
const RECORD = Buffer.concat([recordStart(TIMES), Buffer.from('Kpaid\n{"a":1}')]);
const HANDLED = JSON.stringify({ ...TIMES, lateness: 3, took: 9, attempt: 2, worker: { id: 'w', host: 'h', pid: 7 } });
const ignore = () => undefined;
const listener = { onEarlierDue: ignore, onTransfer: ignore, onAbort: ignore };
const REPORT = writeReport({
  ...{ host: 'h', pid: 7, version: '1.0.0', age: 5000 },
  queues: [
    {
      ...{ queue: 'orders', slots: 5, used: 1, handled: 10, failed: 0 },
      ...{ lateness: { p50: 1, p99: 9 }, longest: { id: 'a', type: 't', age: 7 } },
    },
  ],
});

/** What scripts reply, and what processes leave in Redis for each other. */
export const records: Target = {
  name: 'records',
  samples: [
    RECORD,
    Buffer.concat([Buffer.from(`1700000000000 ${HANDLED}\n`), RECORD]),
    ...[
      ...[
        '1700000000000 25 0',
        'transfer scheduler 1700000000000 3 1700000000000000 1700000000000 0',
        'abort token an id',
      ],
      ...['{"name":"Error","message":"it failed","stack":"Error: it failed\\n    at x"}', 'delayed:1700000000000:id'],
      ...[
        'active::token\nid',
        REPORT,
        '{"globalConcurrency":5,"rate":{"max":3,"per":1000},"by":"cli","at":1700000000000}',
      ],
    ].map((text) => Buffer.from(text)),
  ],
  check(bytes) {
    const text = bytes.toString();
    const { dueAt, offeredAt, body } = readRecord(bytes);
    if (bytes.length >= RECORD_PREFIX) {
      expectSame('a record', Buffer.concat([recordStart({ dueAt, offeredAt }), body]), bytes);
    }
    handledMessageOf({ name: 'orders', codec: nativeCodec }, readHandled('id', bytes));
    readAnnouncement(text, '0', listener);
    readFailure(text);
    parseLimits(text);
    readReport({ id: 'w', at: TIMES.dueAt, report: text });
    for (const state of ['delayed', 'active'] as const) {
      orRefused('INVALID_ARGUMENT', () => parseCursor(state, text));
    }
  },
};

const RECORD_PREFIX = recordStart(TIMES).length;

const MESSAGE: ScannedMessage = {
  ...{
    id: 'a',
    state: 'delayed',
    ...TIMES,
    body: Buffer.from('J{"a":1}'),
    failedAttempts: 0,
    isHeld: false,
    death: null,
  },
};
const LINES = [
  writeLine(lineOf(MESSAGE)),
  writeLine(lineOf({ ...MESSAGE, state: 'dead', death: { at: TIMES.dueAt, error: '{}' }, failedAttempts: 3 })),
  writeLine(lineOf({ ...MESSAGE, body: Buffer.of(66, 255, 0), isHeld: true, rank: TIMES.dueAt + 0.25 })),
  writeLine(lineOf({ ...MESSAGE, body: Buffer.from('Ngroup\ng\nJ1'), follower: { due: { after: 5 }, body: RECORD } })),
  '{"kind":"export","version":1,"queue":"orders","layout":"native","prefix":"delay-queue:","at":1700000000000}',
  '{"kind":"settings","paused":true,"limits":{"globalConcurrency":null,"rate":{"max":1,"per":5},"by":"a","at":1}}',
  '{"kind":"group","group":"g","paused":false,"concurrency":"unlimited"}',
  '{"kind":"declared","id":"digest"}',
  '{"kind":"end","messages":1,"digest":"0","inUse":false}',
];

/** Lines of an export. */
export const exportLines: Target = {
  name: 'lines of an export',
  samples: LINES.map((line) => Buffer.from(line)),
  check(bytes) {
    const line = orRefused('INVALID_ARGUMENT', () => readLine(bytes.toString(), 1));
    if (!line) return;
    expectSame('a line', readLine(writeLine(line), 1), line);
    if (line.kind !== 'message') return;
    const message = orRefused('INVALID_ARGUMENT', () => messageOf(line, 1));
    if (message) expectSame('a message', messageOf(lineOf({ ...message, state: 'delayed' }), 1), message);
  },
};
