import { describe, expect, it } from '@jest/globals';
import { DelayQueue, payload } from '../../lib/index.js';
import {
  DelayQueueOutbox,
  drizzle,
  knex,
  OutboxModule,
  type OutboxDatabase,
  type OutboxOptions,
  typeOrm,
} from '../../packages/outbox/src/index.js';
import { z } from 'zod';
import { startTestApp } from '../support/test-app.js';

/** A database that keeps what is written to it. */
function recording(): OutboxDatabase & { readonly statements: string[] } {
  const statements: string[] = [];
  const sql = (statement: string) => {
    statements.push(statement);
    return Promise.resolve([]);
  };
  return { statements, dialect: 'sqlite', within: () => sql, transaction: (work) => work(sql) };
}

async function outboxOn(database: OutboxDatabase): Promise<{ outbox: DelayQueueOutbox; close: () => Promise<void> }> {
  const { context, close } = await startTestApp(
    { store: 'memory' },
    { imports: [OutboxModule.forRoot({ database, relay: false })] },
  );
  return { outbox: context.get(DelayQueueOutbox), close };
}

const TRANSACTION = {};
const cycle: { self?: unknown } = {};
cycle.self = cycle;
const throwing = {
  get id(): string {
    throw new Error('boo');
  },
};

class Numbers extends DelayQueue('numbers', z.object({ n: z.number() })) {}
class Elsewhere extends DelayQueue('elsewhere', payload<1>(), { instance: 'billing' }) {}
class Kinds extends DelayQueue('kinds', { one: payload<1>(), checked: z.object({ n: z.number() }) }) {}

type Call = (outbox: Untyped) => Promise<unknown>;
type Untyped = Record<
  'offer' | 'offerAt' | 'offerMany' | 'cancel' | 'reschedule',
  (...given: unknown[]) => Promise<unknown>
>;

type Refused = [name: string, call: Call, code: string, message: RegExp];

const BAD_RETRIES: Readonly<Record<string, readonly [options: object, message: RegExp]>> = {
  'no attempts': [{ attempts: 0 }, /^attempts must be a whole number from 1 to 1000000, not 0/],
  'attempts as text': [{ attempts: '3' }, /^attempts must be a whole number/],
  'a backoff as a function': [{ backoff: () => 5 }, /^backoff: must be an object/],
  'a backoff of an unknown type': [{ backoff: { type: 'linear' } }, /^backoff.type must be 'fixed' or 'exponential'/],
  'a fixed backoff without a delay': [{ backoff: { type: 'fixed' } }, /^backoff.delay is not a duration/],
  'a fixed backoff with a factor': [{ backoff: { type: 'fixed', delay: 1, factor: 2 } }, /^backoff.factor goes with/],
  'a backoff with a factor below 1': [{ backoff: { type: 'exponential', factor: 0 } }, /^backoff.factor must be a num/],
  'a backoff with too much jitter': [
    { backoff: { type: 'fixed', delay: 1, jitter: 2 } },
    /^backoff.jitter must be a num/,
  ],
};

const REFUSED: readonly Refused[] = [
  ['a queue with spaces', (o) => o.offer(TRANSACTION, 'a b', 1, 1), 'INVALID_ARGUMENT', /^queue: a queue name has/],
  ['a queue that is a number', (o) => o.offer(TRANSACTION, 7, 1, 1), 'INVALID_ARGUMENT', /^queue: .*not 7/],
  [
    'a class that is not a queue',
    (o) => o.offer(TRANSACTION, Date, 1, 1),
    'INVALID_ARGUMENT',
    /^queue: must be a name, or a class/,
  ],
  [
    'a class of another instance',
    (o) => o.offer(TRANSACTION, Elsewhere, 1, 1),
    'INVALID_ARGUMENT',
    /^queue: 'elsewhere' belongs to another instance .* producer: getDelayQueueProducerToken\('billing'\)/,
  ],
  ['no queue', (o) => o.cancel(TRANSACTION, undefined, 'm'), 'INVALID_ARGUMENT', /^queue: /],
  [
    'an unknown unit',
    (o) => o.offer(TRANSACTION, 'q', 1, '3 fortnights'),
    'INVALID_ARGUMENT',
    /^delay is not a duration/,
  ],
  [
    'a delay with an ambiguous unit',
    (o) => o.offer(TRANSACTION, 'q', 1, '1M'),
    'INVALID_ARGUMENT',
    /^delay .*m \(minutes\)/,
  ],
  ['a negative delay', (o) => o.offer(TRANSACTION, 'q', 1, -1), 'INVALID_ARGUMENT', /^delay must be between/],
  ['half a millisecond', (o) => o.offer(TRANSACTION, 'q', 1, 0.5), 'INVALID_ARGUMENT', /^delay must be a whole number/],
  [
    'a date as a delay',
    (o) => o.offer(TRANSACTION, 'q', 1, new Date()),
    'INVALID_ARGUMENT',
    /^delay is not a duration/,
  ],
  [
    'an invalid date',
    (o) => o.offerAt(TRANSACTION, 'q', 1, new Date(NaN)),
    'INVALID_ARGUMENT',
    /^date must be a valid Date/,
  ],
  ['an empty id', (o) => o.offer(TRANSACTION, 'q', 1, 1, { id: '' }), 'INVALID_ARGUMENT', /^id: a message id must be/],
  ['a long id', (o) => o.cancel(TRANSACTION, 'q', 'ä'.repeat(129)), 'INVALID_ARGUMENT', /^id: /],
  ['an unpaired surrogate', (o) => o.cancel(TRANSACTION, 'q', '\ud800'), 'INVALID_ARGUMENT', /^id: /],
  ['a NUL in an id', (o) => o.reschedule(TRANSACTION, 'q', '\0', 1), 'INVALID_ARGUMENT', /^id: /],
  [
    'an unknown option',
    (o) => o.offer(TRANSACTION, 'q', 1, 1, { ID: 'm' }),
    'INVALID_ARGUMENT',
    /^options: .*not 'ID'/,
  ],
  [
    'an option that throws',
    (o) => o.offer(TRANSACTION, 'q', 1, 1, throwing),
    'INVALID_ARGUMENT',
    /^options: it cannot be read/,
  ],
  [
    'a string as the options',
    (o) => o.offer(TRANSACTION, 'q', 1, 1, 'm'),
    'INVALID_ARGUMENT',
    /^options: must be an object/,
  ],
  [
    'a group without a name',
    (o) => o.offer(TRANSACTION, 'q', 1, 1, { group: '' }),
    'INVALID_ARGUMENT',
    /^group: the name of a group must be text of 1–256 bytes/,
  ],
  [
    'reject',
    (o) => o.offer(TRANSACTION, 'q', 1, 1, { onDuplicate: 'reject' }),
    'INVALID_ARGUMENT',
    /^onDuplicate .*could tell nobody/,
  ],
  [
    'follow',
    (o) => o.offer(TRANSACTION, 'q', 1, 1, { onDuplicate: 'follow' }),
    'INVALID_ARGUMENT',
    /^onDuplicate .*follow its own message/,
  ],
  [
    'an expiry that is not a duration',
    (o) => o.offer(TRANSACTION, 'q', 1, 1, { expiresAfter: 'soon' }),
    'INVALID_ARGUMENT',
    /^expiresAfter is not a duration/,
  ],
  [
    'an expiry outcome for a message that does not expire',
    (o) => o.offer(TRANSACTION, 'q', 1, 1, { onExpired: 'dead' }),
    'INVALID_ARGUMENT',
    /^onExpired needs expiresAfter/,
  ],
  [
    'an unknown outcome of an expired message',
    (o) => o.offer(TRANSACTION, 'q', 1, 1, { expiresAfter: 1, onExpired: 'keep' }),
    'INVALID_ARGUMENT',
    /^onExpired must be 'drop' or 'dead', not 'keep'/,
  ],
  ...Object.entries(BAD_RETRIES).map(([what, [options, message]]): Refused => [
    what,
    (o) => o.offer(TRANSACTION, 'q', 1, 1, options),
    'INVALID_ARGUMENT',
    message,
  ]),
  [
    'a maxWait of 0',
    (o) => o.offer(TRANSACTION, 'q', 1, 1, { id: 'm', onDuplicate: 'replace', maxWait: 0 }),
    'INVALID_ARGUMENT',
    /^maxWait must be between 1 ms/,
  ],
  [
    "a maxWait without an id and onDuplicate: 'replace'",
    (o) => o.offer(TRANSACTION, 'q', 1, 1, { id: 'm', maxWait: 1 }),
    'INVALID_ARGUMENT',
    /^maxWait: goes with an id and onDuplicate: 'replace'/,
  ],
  [
    'a string as the change',
    (o) => o.reschedule(TRANSACTION, 'q', 'm', 1, 'paid'),
    'INVALID_ARGUMENT',
    /^change: must be an object/,
  ],
  [
    'a change to undefined',
    (o) => o.reschedule(TRANSACTION, 'q', 'm', 1, { payload: undefined }),
    'INVALID_PAYLOAD',
    /^payload: it is undefined; leave it out/,
  ],
  [
    'a change to the type alone',
    (o) => o.reschedule(TRANSACTION, Kinds, 'm', 1, { type: 'one' }),
    'INVALID_ARGUMENT',
    /^type: goes with a payload/,
  ],
  [
    'a change that the schema refuses',
    (o) => o.reschedule(TRANSACTION, Numbers, 'm', 1, { payload: { n: 'one' } }),
    'INVALID_PAYLOAD',
    /^payload of queue 'numbers'/,
  ],
  ['a bad type', (o) => o.offer(TRANSACTION, 'q', 1, 1, { type: 'a b' }), 'INVALID_ARGUMENT', /^type: /],
  [
    'headers with numbers as values',
    (o) => o.offer(TRANSACTION, 'q', 1, 1, { headers: { a: 1 } }),
    'INVALID_ARGUMENT',
    /^headers\['a'\]/,
  ],
  [
    'headers as a list',
    (o) => o.offer(TRANSACTION, 'q', 1, 1, { headers: [] }),
    'INVALID_ARGUMENT',
    /^headers must be/,
  ],
  [
    'undefined',
    (o) => o.offer(TRANSACTION, 'q', undefined, 1),
    'INVALID_PAYLOAD',
    /^payload: JSON cannot represent undefined/,
  ],
  [
    'a promise inside',
    (o) => o.offer(TRANSACTION, 'q', { a: [Promise.resolve()] }, 1),
    'INVALID_PAYLOAD',
    /^payload\.a\[0\]: .*Promise/,
  ],
  ['NaN', (o) => o.offer(TRANSACTION, 'q', { a: NaN }, 1), 'INVALID_PAYLOAD', /^payload\.a: .*NaN/],
  [
    'a match',
    (o) => o.offer(TRANSACTION, 'q', /(?<a>x)/.exec('x'), 1),
    'INVALID_PAYLOAD',
    /the field 'index' of a list; offer/,
  ],
  ['a Map', (o) => o.offer(TRANSACTION, 'q', new Map(), 1), 'INVALID_PAYLOAD', /a Map; offer Object\.fromEntries/],
  ['a BigInt', (o) => o.offer(TRANSACTION, 'q', [1n], 1), 'INVALID_PAYLOAD', /^payload\[0\]: .*BigInt/],
  [
    'a hole',
    (o) => o.offer(TRANSACTION, 'q', new Array(2), 1),
    'INVALID_PAYLOAD',
    /^payload\[0\]: .*undefined in a list/,
  ],
  ['a cycle', (o) => o.offer(TRANSACTION, 'q', cycle, 1), 'INVALID_PAYLOAD', /^payload\.self: .*a cycle/],
  [
    'a getter that throws',
    (o) => o.offer(TRANSACTION, 'q', throwing, 1),
    'INVALID_PAYLOAD',
    /^payload: it cannot be read/,
  ],
  [
    'a payload that the schema refuses',
    (o) => o.offer(TRANSACTION, Numbers, { n: 'x' }, 1),
    'INVALID_PAYLOAD',
    /the schema refuses payload\.n$/,
  ],
  [
    "a payload that a type's schema refuses",
    (o) => o.offer(TRANSACTION, Kinds, 'checked', {}, 1),
    'INVALID_PAYLOAD',
    /payload\.n$/,
  ],
  [
    'an unknown type',
    (o) => o.offer(TRANSACTION, Kinds, 'two', {}, 1),
    'INVALID_ARGUMENT',
    /^type: queue 'kinds' has the types one, checked; given: 'two'/,
  ],
  [
    'a type as an option',
    (o) => o.offer(TRANSACTION, Numbers, { n: 1 }, 1, { type: 't' }),
    'INVALID_ARGUMENT',
    /^options: .*not 'type'/,
  ],
  ['no list', (o) => o.offerMany(TRANSACTION, 'q', {}), 'INVALID_ARGUMENT', /^messages: must be an array/],
  [
    'the second message in a list',
    (o) => o.offerMany(TRANSACTION, 'q', [{ payload: 1, delay: 1 }, { payload: 1 }]),
    'INVALID_ARGUMENT',
    /^messages\[1\]: it must have either/,
  ],
  ['no transaction', (o) => o.offer(undefined, 'q', 1, 1), 'INVALID_ARGUMENT', /^transaction: .*not undefined/],
  ['null for a transaction', (o) => o.cancel(null, 'q', 'm'), 'INVALID_ARGUMENT', /^transaction: .*not null/],
];

describe('a refused call', () => {
  it.each(REFUSED)(
    'writes nothing and fails with an error that names the field and the fix: %s',
    async (_, call, code, message) => {
      const database = recording();
      const { outbox, close } = await outboxOn(database);
      const before = database.statements.length;
      await expect(call(outbox as unknown as Untyped)).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
      });
      expect(database.statements).toHaveLength(before);
      await close();
    },
  );
});

describe('invalid options', () => {
  const database = recording();
  it.each([
    ['no database', {}, /database: use what pg\(pool\)/],
    ['a pool as the database', { database: { query() {} } }, /database: use what pg\(pool\)/],
    ['an unknown option', { database, tabel: 'x' }, /tabel: there is no such option/],
    ['a table with a quote', { database, table: 'x"y' }, /table: must be a name/],
    [
      'a table whose channel PostgreSQL would refuse',
      { database: { ...database, dialect: 'postgresql' }, table: `${'s'.repeat(40)}.${'t'.repeat(40)}` },
      /table: must have at most 63 characters with its schema, .*not 81/,
    ],
    ['a batch size of 0', { database, batchSize: 0 }, /batchSize: must be a whole number between 1 and 1000/],
    ['an interval that is not a duration', { database, pollInterval: 'often' }, /pollInterval is not a duration/],
    ['a short lease', { database, lease: 10 }, /lease: must be between 1000 ms/],
    ['a string as relay', { database, relay: 'yes' }, /relay: must be true or false/],
  ])('make startup fail: %s', async (_, options, message) => {
    const started = startTestApp(
      { store: 'memory' },
      { imports: [OutboxModule.forRoot(options as unknown as OutboxOptions)] },
    );
    await expect(started).rejects.toMatchObject({ code: 'INVALID_OPTION', message: expect.stringMatching(message) });
  });

  it('are rejected by forRoot() and forRootAsync(): no options object, no factory, or an invalid instance name', () => {
    expect(() => OutboxModule.forRoot(undefined as never)).toThrow(/forRoot\(\) must be given an options object/);
    expect(() => OutboxModule.forRootAsync({} as never)).toThrow(/needs useFactory/);
    expect(() => OutboxModule.forRoot({ database, instance: 'a b' })).toThrow(/instance: must be 1–24/);
  });

  it('for a library lead to an error that names the databases it may use', () => {
    expect(() => typeOrm({ options: { type: 'mongodb' } } as never)).toThrow(/'mongodb' .* must be one of postgres/);
    expect(() => knex({ client: { driverName: 'oracledb' } } as never)).toThrow(/'oracledb' must be one of pg/);
    expect(() => drizzle({} as never, { dialect: 'sqlite' } as never)).toThrow(
      /dialect: must be 'postgresql' or 'mysql'/,
    );
  });
});
