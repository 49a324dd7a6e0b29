import { describe, expect, it } from '@jest/globals';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import { Observers } from '../../lib/observers/observers.js';
import { BatchRunner, type BatchRunnerOptions } from '../../lib/batches/batch-runner.js';
import { ConcurrentCalls } from '../../lib/batches/concurrent-calls.js';
import { type Delivery, HandlerTimeout, LeaseLost, ShuttingDown } from '../../lib/consumer/delivery.js';
import { Outcomes } from '../../lib/consumer/outcomes.js';
import { RetryPolicy } from '../../lib/consumer/retry-policy.js';
import type { HandlerCall } from '../../lib/handler/handler-registry.js';
import { again, DeferMessage, RejectMessage } from '../../lib/message/handler-results.js';
import type { DelayedMessage } from '../../lib/message/message.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import type { Outcome } from '../../lib/store/consumer-store.js';
import { setImmediate } from '../../lib/timing/event-loop.js';
import { newDelivery, newLease } from '../support/deliveries.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';

type Handler = (payloads: unknown[], messages: readonly DelayedMessage[]) => unknown;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** @param leaseEnd - on the monotonic clock */
function delivery(id: string, leaseEnd = Infinity): Delivery {
  const opened = newDelivery(id, {}, newLease('t', leaseEnd));
  opened.open({ type: '', payload: `payload of ${id}`, headers: {} });
  return opened;
}

/** A runner that keeps the ids of each call, and a way to give it deliveries. */
function newRunner(
  handler: Handler,
  {
    concurrency = 10,
    clock = new ManualClock(),
    ...options
  }: Partial<BatchRunnerOptions> & { concurrency?: number; clock?: ManualClock } = {},
) {
  const events = new LoggedEvents();
  const queueOptions = resolveQueueOptions({ backoff: { type: 'fixed', delay: 1000 } });
  const calls: string[][] = [];
  const call: Handler = (payloads, messages) => {
    calls.push(messages.map(({ id }) => id));
    expect(payloads).toEqual(messages.map(({ id }) => `payload of ${id}`));
    return handler(payloads, messages);
  };
  const runner = new BatchRunner({
    call: call as HandlerCall,
    check: undefined,
    retryPolicy: new RetryPolicy(queueOptions, events),
    outcomes: new Outcomes({ ...queueOptions, codec: nativeCodec, clock, events }),
    clock,
    timeout: null,
    size: 3,
    wait: 0,
    calls: new ConcurrentCalls(concurrency),
    ...options,
  });
  const settled: Record<string, string> = {};
  const run = (...ids: string[]) => runUntil(Infinity, ...ids);
  const runUntil = (leaseEnd: number, ...ids: string[]) =>
    ids.map((id) => {
      const each = delivery(id, leaseEnd);
      void runner.run(each).then((outcome: Outcome) => (settled[id] = outcome.kind));
      return each;
    });
  return { runner, run, runUntil, calls, settled, clock, events };
}

const nothing = () => undefined;

/** A handler whose calls end one by one, with openNext(). */
function gate() {
  const open: (() => void)[] = [];
  return { handler: () => new Promise<void>((resolve) => open.push(resolve)), openNext: () => open.shift()?.() };
}

describe('a batch', () => {
  it('goes to the handler as soon as it is full', async () => {
    const { run, calls, settled } = newRunner(nothing, { wait: 1000 });
    run('a', 'b');
    expect(calls).toEqual([]);
    run('c', 'd');
    expect(calls).toEqual([['a', 'b', 'c']]);
    await turn();
    expect(settled).toEqual({ a: 'ack', b: 'ack', c: 'ack' });
  });

  it('goes to the handler once its first message has waited long enough', async () => {
    const { run, calls, clock } = newRunner(nothing, { wait: 1000 });
    run('a');
    await clock.advance(900);
    run('b');
    expect(calls).toEqual([]);
    await clock.advance(100);
    expect(calls).toEqual([['a', 'b']]);
    run('c');
    await clock.advance(999);
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    expect(calls).toEqual([['a', 'b'], ['c']]);
  });

  it('contains the messages of one event-loop turn if there is no wait', async () => {
    const { run, calls } = newRunner(nothing);
    run('a');
    run('b');
    expect(calls).toEqual([]);
    await turn();
    run('c');
    await turn();
    expect(calls).toEqual([['a', 'b'], ['c']]);
  });

  it('waits until another call may run, and includes messages that arrive in the meantime', async () => {
    const { handler, openNext } = gate();
    const { run, calls } = newRunner(handler, { concurrency: 1 });
    run('a', 'b', 'c', 'd', 'e');
    await turn();
    expect(calls).toEqual([['a', 'b', 'c']]);
    run('f', 'g');
    openNext();
    await turn();
    expect(calls).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ]);
    openNext();
    await turn();
    await turn();
    expect(calls).toEqual([['a', 'b', 'c'], ['d', 'e', 'f'], ['g']]);
  });

  it('does not wait again if its wait ended while no call was free', async () => {
    const { handler, openNext } = gate();
    const { run, calls, clock } = newRunner(handler, { concurrency: 1, wait: 1000 });
    run('a', 'b', 'c', 'd');
    await clock.advance(5000);
    openNext();
    await clock.advance(1);
    expect(calls).toEqual([['a', 'b', 'c'], ['d']]);
  });

  it('waits its full time even if earlier batches are waiting for a free call', async () => {
    const { handler, openNext } = gate();
    const { run, calls, clock } = newRunner(handler, { concurrency: 1, wait: 1000 });
    run('a', 'b', 'c', 'd', 'e', 'f');
    await clock.advance(900);
    run('g');
    await clock.advance(600);
    openNext();
    await turn();
    openNext();
    await clock.advance(399);
    expect(calls).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ]);
    await clock.advance(1);
    expect(calls[2]).toEqual(['g']);
  });

  it('fails as a whole if the handler throws or rejects, and costs each message one attempt', async () => {
    for (const handler of [
      () => {
        throw new Error('no');
      },
      () => Promise.reject(new Error('no')),
    ]) {
      const { run, settled, events } = newRunner(handler);
      run('a', 'b');
      await turn();
      await turn();
      expect(settled).toEqual({ a: 'retry', b: 'retry' });
      expect(events.lines.filter((line) => line.includes('Error: no'))).toHaveLength(2);
    }
  });

  it('fails as a whole if the handler returns a promise that cannot be awaited', async () => {
    let reads = 0;
    const odd = Object.defineProperty(Promise.resolve(), 'constructor', {
      get() {
        if (reads++ > 0) throw new Error('no');
        return Promise;
      },
    });
    const { run, settled } = newRunner(() => odd);
    run('a', 'b');
    await turn();
    await turn();
    expect(settled).toEqual({ a: 'retry', b: 'retry' });
  });

  it.each<[string, Handler]>([
    ['returns', () => [undefined, new Error('no'), again('1h'), new DeferMessage('1h'), new RejectMessage('no'), 'x']],
    [
      'resolves with',
      () => Promise.resolve([null, new Error('no'), again('1h'), new DeferMessage('1h'), new RejectMessage('no'), 0]),
    ],
    [
      'gets from Promise.allSettled()',
      () =>
        Promise.allSettled([
          Promise.resolve(1),
          Promise.reject(new Error('no')),
          Promise.resolve(again('1h')),
          Promise.reject(new DeferMessage('1h')),
          Promise.reject(new RejectMessage('no')),
          Promise.resolve(undefined),
        ]),
    ],
  ])('takes the outcome of each message from the array that the handler %s', async (_, handler) => {
    const { run, settled } = newRunner(handler, { size: 6 });
    run('a', 'b', 'c', 'd', 'e', 'f');
    await turn();
    await turn();
    expect(settled).toEqual({ a: 'ack', b: 'retry', c: 'again', d: 'defer', e: 'dead', f: 'ack' });
  });

  it.each<[string, unknown, string]>([
    ['an array of other values', [1, 2, 3, 4], 'ack'],
    ['fewer results than messages, one of them an error', [new Error('no')], 'retry'],
    ['more results than messages, one of them rejected', [1, 2, { status: 'rejected', reason: 'no' }], 'retry'],
    ['more promises than messages', () => [Promise.resolve(1), Promise.resolve(2), Promise.resolve(3)], 'ack'],
    ['more promises than messages, one of them rejected', () => [1, 2, Promise.reject(new Error('no'))], 'retry'],
    ['more rows than messages', [1, 2, 3].map((id) => ({ id, status: 'rejected' })), 'ack'],
    ['again() for all', again('1h'), 'again'],
    [
      'an array that cannot be read',
      new Proxy([], {
        get: () => {
          throw new Error('odd');
        },
      }),
      'retry',
    ],
  ])('has one outcome for all messages if the handler returns %s', async (_, result, kind) => {
    const { run, settled } = newRunner(() => (typeof result === 'function' ? (result as Handler)([], []) : result));
    run('a', 'b');
    await turn();
    await turn();
    expect(settled).toEqual({ a: kind, b: kind });
  });

  class Row {
    readonly status = 'rejected';
    readonly reason = 'out of stock';
  }

  it.each<[string, object]>([
    ['only a status', { status: 'rejected' }],
    ['an extra column', { status: 'rejected', reason: 'out of stock', id: 7 }],
    ['the wrong column for its status', { status: 'rejected', value: 7 }],
    ['a custom class', new Row()],
    ['no prototype', Object.assign(Object.create(null) as object, { status: 'rejected', reason: 'out of stock' })],
    ['a hidden key', { status: 'rejected', reason: 'out of stock', [Symbol('row')]: 7 }],
  ])('is done if the handler returns rows that look like outcomes but have %s', async (_, row) => {
    const { run, settled } = newRunner(() => [row, row]);
    run('a', 'b');
    await turn();
    expect(settled).toEqual({ a: 'ack', b: 'ack' });
  });

  it.each<[string, (results: unknown[]) => unknown]>([
    ['returns', (results) => results],
    ['resolves with', (results) => Promise.resolve(results)],
  ])('waits for the promises in the array that the handler %s', async (_, give) => {
    const { handler, openNext } = gate();
    const thenable = { then: (_done: unknown, failed: (error: Error) => void) => failed(new RejectMessage('no')) };
    const odd = Object.defineProperty({}, 'then', {
      get() {
        throw new Error('odd');
      },
    });
    const results = () => [
      handler(),
      Promise.reject(new Error('no')),
      Promise.resolve(again('1h')),
      Promise.resolve(new Error('no')),
      thenable,
      odd,
    ];
    const { run, settled } = newRunner(() => give(results()), { size: 6 });
    run('a', 'b', 'c', 'd', 'e', 'f');
    await turn();
    expect(settled).toEqual({});
    openNext();
    await turn();
    expect(settled).toEqual({ a: 'ack', b: 'retry', c: 'again', d: 'retry', e: 'dead', f: 'retry' });
  });

  it.each<[string, (results: unknown[]) => unknown]>([
    ['returned', (results) => results],
    ['promised', (results) => Promise.resolve(results)],
  ])('fails when promises in a %s array take too long, and ignores their later rejections', async (_, give) => {
    const { handler, openNext } = gate();
    const slow = () => handler().then(() => Promise.reject(new Error('too late')));
    const { run, settled, clock } = newRunner(() => give([slow(), Promise.resolve(1)]), { timeout: 500 });
    const deliveries = run('a', 'b');
    await clock.advance(499);
    expect(settled).toEqual({});
    await clock.advance(1);
    expect(settled).toEqual({ a: 'retry', b: 'retry' });
    expect(deliveries.map(({ abortReason }) => abortReason instanceof HandlerTimeout)).toEqual([true, true]);
    openNext();
    await turn();
  });

  it('is aborted and fails if the handler takes too long', async () => {
    const { run, settled, clock } = newRunner(() => new Promise(nothing), { timeout: 500 });
    const deliveries = run('a', 'b', 'c');
    await clock.advance(499);
    expect(settled).toEqual({});
    await clock.advance(1);
    expect(settled).toEqual({ a: 'retry', b: 'retry', c: 'retry' });
    expect(deliveries.map(({ abortReason }) => abortReason instanceof HandlerTimeout)).toEqual([true, true, true]);
  });

  it('leaves out messages that lose their lease while they wait', async () => {
    const { run, calls, settled } = newRunner(nothing);
    const [, b] = run('a', 'b');
    b!.abort(new LeaseLost('gone'));
    await turn();
    expect(calls).toEqual([['a']]);
    await turn();
    expect(settled).toEqual({ a: 'ack', b: 'release' });
  });

  it('leaves out messages whose lease ended while the process was frozen, even before any timer fires', async () => {
    const { run, runUntil, calls, settled, clock } = newRunner(nothing, { wait: 1000 });
    runUntil(clock.monotonic() + 5000, 'a');
    run('b');
    clock.block(5000);
    await clock.advance(0);
    await turn();
    expect(calls).toEqual([['b']]);
    expect(settled).toEqual({ a: 'release', b: 'ack' });
  });

  it.each([
    ['some of its messages', ['b'], { a: 'release', b: 'ack', c: 'release' }],
    ['all of its messages', [], { a: 'release', c: 'release' }],
  ])('leaves out %s if the leases end while an observer delays the batch', async (_, kept, outcomes) => {
    const clock = new ManualClock();
    const shown: unknown[] = [];
    const observers = new Observers(new LoggedEvents(), clock);
    const handleBatch = async (_messages: readonly DelayedMessage[], next: () => unknown) => {
      await clock.sleep(5000);
      shown.push(await next());
    };
    observers.add({ handleBatch }, 'Slow');
    const { run, runUntil, calls, settled } = newRunner(() => Promise.resolve(), { clock, hooks: observers });
    runUntil(clock.monotonic() + 5000, 'a');
    run(...kept);
    runUntil(clock.monotonic() + 5000, 'c');
    await turn();
    await clock.advance(5000);
    await turn();
    expect(calls).toEqual(kept.length > 0 ? [kept] : []);
    expect(settled).toEqual(outcomes);
    expect(shown).toEqual([Object.values(outcomes).map((kind) => ({ kind }))]);
  });

  it('does not go to the handler if all its messages have lost their leases', async () => {
    const { run, calls } = newRunner(nothing, { concurrency: 1 });
    run('a')[0]!.abort(new LeaseLost('gone'));
    await turn();
    run('b');
    await turn();
    expect(calls).toEqual([['b']]);
  });

  it('is released when the process stops, unless its handler is already running', async () => {
    const { handler, openNext } = gate();
    const { runner, run, calls, settled } = newRunner(handler, { wait: 1000 });
    run('a', 'b', 'c', 'd');
    runner.stop();
    run('e');
    await turn();
    expect(settled).toEqual({ d: 'release', e: 'release' });
    openNext();
    await turn();
    expect(settled).toMatchObject({ a: 'ack', b: 'ack', c: 'ack' });
    expect(calls).toHaveLength(1);
  });

  it('spends no attempts if its handler rejects because of the shutdown', async () => {
    const { run, settled } = newRunner((_, messages) =>
      Promise.all(
        messages.map(({ signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject))),
      ),
    );
    const deliveries = run('a', 'b');
    await turn();
    for (const each of deliveries) each.abort(new ShuttingDown('bye'));
    await turn();
    expect(settled).toEqual({ a: 'release', b: 'release' });
  });
});
