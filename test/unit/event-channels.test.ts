import { afterEach, describe, expect, it } from '@jest/globals';
import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Events } from '../../lib/events/events.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import { ManualClock } from '../support/manual-clock.js';
import { startConsumer } from '../support/start-consumer.js';

const handled = { queue: 'orders', id: 'a', type: '', attempt: 1 };

describe('the diagnostics channels', () => {
  const subscribed: [string, ChannelListener][] = [];
  const reported: unknown[] = [];

  function listen(name: string): void {
    const listener: ChannelListener = (event, channel) => reported.push([channel, event]);
    subscribed.push([name, listener]);
    subscribe(name, listener);
  }

  afterEach(() => {
    for (const [name, listener] of subscribed.splice(0)) unsubscribe(name, listener);
    reported.length = 0;
  });

  it('deliver only the events of their own name to their subscribers', () => {
    const events = new Events();
    listen('nestjs-delay-queue:handled');
    events.emit('handled', handled);
    events.emit('deferred', handled);
    expect(reported).toEqual([['nestjs-delay-queue:handled', { name: 'handled', ...handled }]]);
  });

  it('make has() true only for events whose channel has a subscriber', () => {
    const events = new Events();
    expect(events.has('handled')).toBe(false);
    listen('nestjs-delay-queue:handled');
    expect(events.has('handled')).toBe(true);
    expect(events.has('deferred')).toBe(false);
  });

  it('need only a subscription, which may be made while the application runs', async () => {
    const clock = new ManualClock();
    const store = new MemoryMessageStore({ limits: { attempts: 3, maxDeadLetters: 1, maxMessages: null }, clock });
    startConsumer({ store, clock, events: new Events() }, () => undefined);
    listen('nestjs-delay-queue:handled');
    await store.offer([{ id: 'a', due: { after: 10 }, onDuplicate: 'replace', body: 'J1' }]);
    await clock.advance(60_000);
    expect(reported).toEqual([['nestjs-delay-queue:handled', { name: 'handled', ...handled }]]);
  });
});
