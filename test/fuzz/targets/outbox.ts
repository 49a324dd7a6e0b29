import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { DelayQueueModule, DelayQueueProducer } from '../../../lib/index.js';
import { encryption } from '../../../lib/encryption/index.js';
import { DelayQueueTestingModule } from '../../../lib/testing/index.js';
import { deliver } from '../../../packages/outbox/src/relay/deliver.js';
import type { RelayTarget } from '../../../packages/outbox/src/relay/relay-target.js';
import { encryptedRow } from '../../../packages/outbox/src/table/encrypted-row.js';
import type { NewRow, TakenRow } from '../../../packages/outbox/src/table/row.js';
import { BrokenRule, type Target } from '../target.js';

/** An application is replaced after so many rows, because each may name another queue. */
const ROWS = 5000;

const ROW: TakenRow = {
  ...{ seq: 1, operation: 'offer', queue: 'orders', messageId: 'a', body: '{"payload":{"a":1}}' },
  ...{ delay: 60_000, dueAt: null, waited: 5, attempts: 0 },
};
const OFFER = { type: 't', headers: { h: 'x' }, group: 'g', expiresAfter: 5000, onExpired: 'dead', attempts: 3 };
const BODIES = [
  { payload: { a: [1, 'b', null] } },
  { base64: 'AAECAw==', ...OFFER },
  { payload: 1, ...OFFER, expiresAfter: 'never', maxWait: 9000, onDuplicate: 'replace' },
  { payload: 1, backoff: { type: 'fixed', delay: 100, jitter: 0 } },
  { payload: 1, backoff: { type: 'exponential', delay: 100, factor: 2, maxDelay: 5000, jitter: 0.5 } },
].map((body) => JSON.stringify(body));

async function openApplication() {
  const keys = { k: Buffer.alloc(32, 1) };
  const options = {
    ...{ connection: 'redis://nowhere.invalid:1' },
    queues: { secrets: { encryption: encryption({ current: 'k', keys }) } },
  };
  const imports = [DelayQueueModule.forRoot(options), DelayQueueTestingModule];
  const application = await NestFactory.createApplicationContext(
    { module: class Fuzzed {}, imports },
    { logger: false },
  );
  const producer = application.get(DelayQueueProducer, { strict: false });
  const target = (producer as unknown as { readonly relayTarget: RelayTarget }).relayTarget;
  return { application, producer, target };
}

/** Rows of the outbox table, delivered to queues in memory. */
export async function outboxRows(): Promise<Target> {
  let open = await openApplication();
  let left = ROWS;
  const encrypted = (row: NewRow) => encryptedRow({ ...row, queue: 'secrets' }, open.target);
  const written: NewRow[] = BODIES.flatMap((body) =>
    ['offer', 'reschedule'].map((operation) => ({ ...ROW, operation: operation as 'offer', body, due: undefined })),
  );
  const rows = [...written, ...written.map(encrypted), { ...ROW, operation: 'cancel', body: '{}' }];
  return {
    name: 'rows of the outbox',
    samples: rows.map(({ operation, queue, body }) => Buffer.from(`${operation} ${queue} ${body}`)),
    async check(input) {
      if (left-- === 0) {
        await open.application.close();
        [open, left] = [await openApplication(), ROWS];
      }
      const { producer, target } = open;
      const row = rowOf(input.toString());
      const { done, failed } = await deliver({ producer, target }, [row], Infinity);
      if (done.length + failed.length !== 1) throw new BrokenRule('a row is neither done nor has it failed');
      for (const { code, error } of failed)
        if (!CODES.includes(code)) throw new BrokenRule(`a row fails with ${error}`);
    },
  };
}

/** The errors that say what is wrong with a row. */
const CODES = [
  'UnreadableRow',
  'INVALID_ARGUMENT',
  'INVALID_OPTION',
  'INVALID_PAYLOAD',
  'PAYLOAD_TOO_LARGE',
  'QUEUE_FULL',
];

const OPERATIONS = ['offer', 'cancel', 'reschedule', 'offer-encrypted', 'change-encrypted'];

/** A relay takes only rows with operations that it knows; the other columns have types, so that only texts can be odd. */
function rowOf(text: string): TakenRow {
  const [operation = '', queue = '', ...body] = text.split(' ');
  return { ...ROW, operation: OPERATIONS.includes(operation) ? operation : 'offer', queue, body: body.join(' ') };
}
