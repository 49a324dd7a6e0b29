import { beforeEach, describe, expect, it } from '@jest/globals';
import type { EventName } from '../../lib/message/delay-queue-events.js';
import { again, DeferMessage, RejectMessage } from '../../lib/message/handler-results.js';
import { LEASE_EXPIRED } from '../../lib/store/consumer-store.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';
import { type Handler, startConsumer } from '../support/start-consumer.js';

const HOUR = 3_600_000;
const REPORTED: readonly EventName[] = [
  'handled',
  'again',
  'deferred',
  'retried',
  'dead',
  'failed',
  'lease-lost',
  'transferred',
  'leases-expired',
  'dead-letters-dropped',
];

describe('Events', () => {
  let clock: ManualClock;
  let store: MemoryMessageStore;
  let events: LoggedEvents;
  let reported: [EventName, object][];

  beforeEach(() => {
    clock = new ManualClock();
    store = new MemoryMessageStore({ limits: { attempts: 3, maxDeadLetters: 1, maxMessages: null }, clock });
    events = new LoggedEvents();
    reported = [];
    for (const name of REPORTED) events.on(name, (event) => reported.push([name, event]));
  });

  async function offer(id: string, body = 'J1'): Promise<void> {
    await store.offer([{ id, due: { after: 10 }, onDuplicate: 'replace', body }]);
  }

  async function handleWith(handle: Handler): Promise<[EventName, object][]> {
    startConsumer({ store, clock, events }, handle, { attempts: 2, backoff: { type: 'fixed', delay: HOUR } });
    await offer('a');
    await clock.advance(60_000);
    return reported;
  }

  const failure: unknown = expect.objectContaining({ name: 'Error', message: 'no' });
  const throws = (error: unknown) => () => {
    throw error;
  };
  const transferred = ['transferred', { queue: 'orders', count: 1 }] as const;
  const first = { queue: 'orders', id: 'a', type: '', attempt: 1 };
  const named = (name: string) => expect.objectContaining({ name }) as unknown;

  it.each<[string, Handler, [EventName, object][]]>([
    ['handled', () => undefined, [['handled', first]]],
    ['redelivered by again()', () => again(HOUR), [['again', first]]],
    ['deferred', throws(new DeferMessage(HOUR)), [['deferred', first]]],
    [
      'failed',
      throws(new Error('no')),
      [
        ['failed', { ...first, attempts: 2, failure, retryIn: HOUR }],
        ['retried', first],
      ],
    ],
    [
      'rejected',
      throws(new RejectMessage('no')),
      [
        [
          'failed',
          {
            ...first,
            attempts: 2,
            failure: named('RejectMessage'),
            trace: expect.stringContaining('RejectMessage: no\n'),
          },
        ],
        ['dead', { ...first, by: 'reject', failure: named('RejectMessage') }],
      ],
    ],
  ])('reports a message that was %s as transferred, then with its outcome', async (_what, handle, outcome) => {
    expect(await handleWith(handle)).toEqual([transferred, ...outcome]);
  });

  it('reports a message that cannot be read as dead and unreadable', async () => {
    startConsumer({ store, clock, events }, () => undefined);
    await offer('a', 'what is that');
    await clock.advance(60_000);
    expect(reported).toEqual([transferred, ['dead', { ...first, by: 'unreadable', failure: named('UnreadableBody') }]]);
  });

  it.each([
    ['unreadable', 'its body cannot be read'],
    ['unknown-type', 'unknownTypeGrace is over'],
  ] as const)('logs why a message is dead if no handler has failed: %s', (by, because) => {
    events.emit('dead', { ...first, by, failure: { name: 'E', message: 'no' } });
    expect(events.lines).toEqual([`error orders: message a is a dead letter because ${because}: E: no`]);
  });

  it('logs a note but does not report it to observers', () => {
    const watched: string[] = [];
    events.watch(({ name }) => watched.push(name));
    events.note('misused', { problem: 'no' });
    events.emit('handled', first);
    expect(watched).toEqual(['handled']);
    expect(events.lines).toEqual(['error no']);
  });

  it('reports only a lost lease if a message is replaced while it is handled', async () => {
    await handleWith(async () => {
      await store.offer([{ id: 'a', due: { after: 24 * HOUR }, onDuplicate: 'replace', body: 'J2' }]);
    });
    expect(reported).toEqual([transferred, ['lease-lost', { queue: 'orders', id: 'a' }]]);
  });

  it('reports a message whose consumer is gone as recovered', async () => {
    await offer('a');
    await clock.advance(10);
    await store.transfer({ limit: 1 });
    await store.claim({ token: 'gone', limit: 1, lease: 1000 });
    startConsumer({ store, clock, events }, () => undefined);
    await clock.advance(60_000);
    expect(reported).toEqual([
      ['leases-expired', { queue: 'orders', recovered: 1, deadLettered: 0 }],
      ['handled', { ...first, attempt: 2 }],
    ]);
  });

  it('reports a message whose last lease expires as dead because of its lease', async () => {
    await offer('a');
    await clock.advance(10);
    await store.transfer({ limit: 1 });
    await store.claim({ token: 'gone', limit: 1, lease: 1000 });
    store.limit({ attempts: 1, maxDeadLetters: 1, maxMessages: null });
    startConsumer({ store, clock, events }, () => undefined);
    await clock.advance(60_000);
    expect(reported).toEqual([
      ['leases-expired', { queue: 'orders', recovered: 0, deadLettered: 1 }],
      ['dead', { queue: 'orders', id: 'a', by: 'lease', failure: LEASE_EXPIRED }],
    ]);
  });

  it('reports a message that fails on its last attempt as dead because of its handler', async () => {
    startConsumer({ store, clock, events }, throws(new Error('no')), { attempts: 1 });
    await offer('a');
    await clock.advance(60_000);
    expect(reported.at(-1)).toEqual(['dead', { ...first, by: 'handler', failure }]);
  });

  it('reports a dead letter beyond maxDeadLetters as dropped', async () => {
    startConsumer({ store, clock, events }, throws(new RejectMessage('no')));
    await offer('a');
    await clock.advance(60_000);
    await offer('b');
    await clock.advance(60_000);
    expect(reported.filter(([name]) => name === 'dead-letters-dropped')).toEqual([
      ['dead-letters-dropped', { queue: 'orders', count: 1 }],
    ]);
  });

  it('knows whether an event has listeners', () => {
    expect(new LoggedEvents().has('handled')).toBe(false);
    expect(events.has('handled')).toBe(true);
  });
});
