import { describe, expect, it } from '@jest/globals';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import { Batches } from '../../lib/batches/batches.js';
import { ConcurrentCalls } from '../../lib/batches/concurrent-calls.js';
import { type Delivery, LeaseLost } from '../../lib/consumer/delivery.js';
import { callStep } from '../../lib/consumer/handler-steps.js';
import { MessageRunner } from '../../lib/consumer/message-runner.js';
import { Outcomes } from '../../lib/consumer/outcomes.js';
import { RetryPolicy } from '../../lib/consumer/retry-policy.js';
import { UnknownTypes } from '../../lib/consumer/unknown-types.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { setImmediate } from '../../lib/timing/event-loop.js';
import { newDelivery } from '../support/deliveries.js';
import { Latch } from '../support/latch.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('ConcurrentCalls', () => {
  /** Calls that record what happens to them. */
  function newCalls(concurrency: number) {
    const calls = new ConcurrentCalls(concurrency);
    const events: string[] = [];
    const latches = new Map<string, Latch>();
    const release = (name: string) => () => void events.push(`${name} released`);
    const addSlow = (name: string) => {
      const latch = new Latch();
      latches.set(name, latch);
      const start = () => {
        events.push(name);
        return latch.opened;
      };
      calls.add({ start, release: release(name) });
    };
    const addQuick = (name: string) => {
      calls.add({ start: () => void events.push(name), release: release(name) });
    };
    const end = async (name: string) => {
      latches.get(name)!.open();
      await latches.get(name)!.opened;
    };
    return { calls, events, addSlow, addQuick, end };
  }

  it('runs as many calls at once as its concurrency allows, and the rest in order of arrival', async () => {
    const { events, addSlow, end } = newCalls(2);
    for (const name of ['a', 'b', 'c', 'd', 'e']) addSlow(name);
    expect(events).toEqual(['a', 'b']);
    await end('b');
    expect(events).toEqual(['a', 'b', 'c']);
    await end('c');
    await end('a');
    expect(events).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('starts each call at once if the previous one ended synchronously', () => {
    const { events, addQuick } = newCalls(1);
    for (const name of ['a', 'b', 'c']) addQuick(name);
    expect(events).toEqual(['a', 'b', 'c']);
  });

  it('continues when a call rejects', async () => {
    const calls = new ConcurrentCalls(1);
    const events: string[] = [];
    calls.add({ start: () => Promise.reject(new Error('no')), release: () => undefined });
    calls.add({ start: () => void events.push('next'), release: () => undefined });
    await turn();
    expect(events).toEqual(['next']);
  });

  it('yields to the event loop between waiting calls that end at once, and keeps their order', async () => {
    const { events, addSlow, addQuick, end } = newCalls(2);
    addSlow('a');
    addSlow('b');
    const names = Array.from({ length: 20 }, (_, i) => `quick ${i}`);
    for (const name of names) addQuick(name);
    await end('a');
    expect(events).toEqual(['a', 'b', 'quick 0']);
    addQuick('last');
    await turn();
    expect(events).toHaveLength(4);
    while (events.at(-1) !== 'last') await turn();
    expect(events.slice(2)).toEqual([...names, 'last']);
  });

  it('releases waiting and later calls once it is stopped', async () => {
    const { calls, events, addSlow, addQuick, end } = newCalls(1);
    addSlow('a');
    addSlow('b');
    calls.stop();
    addQuick('c');
    await end('a');
    await turn();
    expect(events).toEqual(['a', 'b released', 'c released']);
  });
});

describe('a queue with batches and single messages', () => {
  const clock = new ManualClock();
  const events = new LoggedEvents();
  const settings = resolveQueueOptions();

  /** Batches of two of type `many`, and single messages of type `one`, which end one by one, with endNext(). */
  function newRunner(concurrency: number) {
    const calls: string[] = [];
    const latches: Latch[] = [];
    const call = (_payload: unknown, messages: unknown) => {
      const latch = new Latch();
      latches.push(latch);
      calls.push([messages as Delivery | Delivery[]].flat().reduce((ids, { id }) => ids + id, ''));
      return latch.opened;
    };
    const outcomes = new Outcomes({ ...settings, codec: nativeCodec, clock, events });
    const rules = { check: undefined, retryPolicy: new RetryPolicy(settings, events), timeout: null };
    const parts = { rules, outcomes, clock };
    const batches = new Batches({ concurrency, groupConcurrency: null, outcomes });
    const runner = new MessageRunner({
      codec: nativeCodec,
      handles: new Map([
        ['many', batches.batchStep(call, { size: 2, wait: 1000, isPerGroup: false }, parts)],
        ['one', batches.waitStep(callStep(call, parts))],
      ]),
      unknownTypes: new UnknownTypes({ grace: 0, events }),
      outcomes,
    });
    const settled: Record<string, string> = {};
    const run = (type: string, id: string) => {
      const body = Buffer.from(nativeCodec.encode({ type, payload: id, headers: {} }) as string);
      const delivery = newDelivery(id, { body });
      void Promise.resolve(runner.run(delivery)).then(({ kind }) => (settled[id] = kind));
      return delivery;
    };
    const endNext = async () => {
      latches.shift()!.open();
      await clock.advance(1);
      await turn();
    };
    return { batches, run, endNext, calls, settled };
  }

  it('calls its handlers in the order in which the calls became possible', async () => {
    const { run, endNext, calls } = newRunner(1);
    for (const [type, id] of ['one 1', 'many a', 'one 2', 'many b', 'one 3', 'many c'].map((each) => each.split(' '))) {
      run(type!, id!);
    }
    await clock.advance(1000);
    for (let i = 0; i < 5; i++) await endNext();
    expect(calls).toEqual(['1', '2', 'ab', '3', 'c']);
  });

  it('skips a message that loses its lease while waiting', async () => {
    const { run, endNext, calls, settled } = newRunner(1);
    run('one', '1');
    run('one', '2').abort(new LeaseLost('gone'));
    run('one', '3');
    await endNext();
    await endNext();
    expect(calls).toEqual(['1', '3']);
    expect(settled).toEqual({ 1: 'ack', 2: 'release', 3: 'ack' });
  });

  it('releases messages that wait for a call when the process stops', async () => {
    const { batches, run, endNext, calls, settled } = newRunner(1);
    run('one', '1');
    run('one', '2');
    run('many', 'a');
    run('many', 'b');
    run('many', 'c');
    batches.stop();
    run('one', '3');
    await turn();
    expect(settled).toEqual({ 2: 'release', a: 'release', b: 'release', c: 'release', 3: 'release' });
    await endNext();
    expect(settled).toMatchObject({ 1: 'ack' });
    expect(calls).toEqual(['1']);
  });
});
