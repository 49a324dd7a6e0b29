import { describe, expect, it, jest } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { systemClock } from '../../lib/timing/clock.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { AgainAdvice } from '../../lib/runtime/again-advice.js';
import { MessageIdGenerator } from '../../lib/message/message-id.js';
import { DelayQueueProducer } from '../../lib/producer/delay-queue-producer.js';
import { Changes } from '../../lib/producer/changes.js';
import { RelayTarget } from '../../lib/producer/relay-target.js';
import { Offers } from '../../lib/producer/offers.js';
import { QueueParts } from '../../lib/producer/queue-methods.js';
import { QueueWriter } from '../../lib/producer/queue-writer.js';
import { Instance } from '../../lib/runtime/instance.js';
import { CLOCK, REPEATS, RESOLVED_OPTIONS, STORES } from '../../lib/runtime/delay-queue-tokens.js';
import { QueueRegistrar } from '../../lib/runtime/queue-registrar.js';
import { Queue, Queues } from '../../lib/runtime/queues.js';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { Offer, OfferReceipt } from '../../lib/store/producer-store.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import { PlainRouter } from '../../lib/store/router.js';
import { RedisConnections } from '../../lib/redis/redis-connections.js';
import { ManualClock } from '../support/manual-clock.js';
import { LoggedEvents } from '../support/logged-events.js';

const options = resolveQueueOptions();

function newWriter(store: MessageStore) {
  const queue = new Queue('orders', options, new PlainRouter(store));
  const parts = { registrar: { register: () => undefined }, advice: { onKept: () => undefined } };
  const writer = new QueueWriter(queue, { ids: new MessageIdGenerator(), ...parts, callsUnderWay: 0 });
  const offer = (id: string) =>
    writer.encode({ payload: 'payload', due: { after: 1000 }, options: { id, onDuplicate: 'reject' } });
  return { writer, queue, offer };
}

describe('QueueWriter', () => {
  const inMemory = () => newWriter(new MemoryMessageStore({ limits: options, clock: new ManualClock() }));

  it('counts its offers as pending until they are acknowledged', async () => {
    const { writer, queue, offer } = inMemory();
    const offers = ['a', 'b', 'c'].map(offer);
    expect(queue.pendingOffers).toBe(0);
    const written = offers.map((each) => writer.write(each));
    const later = writer.writeMany([offer('d'), offer('e')]);
    expect(queue.pendingOffers).toBe(5);
    await Promise.all([...written, later]);
    expect(queue.pendingOffers).toBe(0);
  });

  it('has no pending offers after an offer or a list of offers was rejected', async () => {
    const { writer, queue, offer } = inMemory();
    await writer.write(offer('a'));
    await expect(writer.write(offer('a'))).rejects.toThrow('has a message');
    await expect(writer.writeMany([offer('a')])).rejects.toThrow('has a message');
    await writer.writeMany([]);
    expect(queue.pendingOffers).toBe(0);
  });

  it('sends offers of the same turn in one call unless their deadlines differ, and keeps their order', async () => {
    const store = new Noting({ limits: options, clock: new ManualClock() });
    const { writer, offer } = newWriter(store);
    const deadlines = [undefined, undefined, 70_000, 70_000, 80_000, undefined];
    const offers = deadlines.map((notAfter, i) => ({ ...offer(`${i}`), ...(notAfter !== undefined && { notAfter }) }));
    await Promise.all(offers.map((each) => writer.write(each)));
    expect(store.calls).toEqual([['0', '1'], ['2', '3'], ['4'], ['5']]);
  });

  it('sends at most a mebibyte of bodies, or 250 messages, in one call', async () => {
    const store = new Noting({ limits: { ...options, maxMessages: null }, clock: new ManualClock() });
    const { writer } = newWriter(store);
    const encode = (kibibytes: number) =>
      writer.encode({ payload: 'x'.repeat(kibibytes * 1024), due: { after: 1000 }, options: {} });
    const sizes = async (kibibytes: readonly number[]) => {
      store.calls.length = 0;
      await writer.writeMany(kibibytes.map(encode));
      return store.calls.map(({ length }) => length).sort();
    };
    const large = [200, 200, 200, 200, 200, 200];
    expect(await sizes(large)).toEqual([1, 5]);
    await Promise.all(large.map((kibibytes) => writer.write(encode(kibibytes))));
    expect(store.calls.slice(2).map(({ length }) => length)).toEqual([5, 1]);
    expect(await sizes(Array.from({ length: 251 }, () => 0))).toEqual([1, 250]);
  });

  it('sends no further calls of a list after one has failed', async () => {
    const store = new Noting({ limits: { ...options, maxMessages: null }, clock: new ManualClock() });
    const { writer, queue, offer } = newWriter(store);
    const failure = new Error('the server is gone');
    const offered = jest.spyOn(store, 'offer').mockRejectedValueOnce(failure);
    const list = Array.from({ length: 2000 }, (_, i) => offer(`${i}`));
    await expect(writer.writeMany(list)).rejects.toThrow('the server is gone');
    // Four were on their way.
    expect(offered).toHaveBeenCalledTimes(4);
    expect(queue.pendingOffers).toBe(0);
  });

  it('has no pending offers after the store has failed', async () => {
    const settings = { connection: {}, clock: systemClock, events: new LoggedEvents(), commandTimeout: 100 };
    const connections = new RedisConnections({ ...settings, heartbeat: 1000 });
    await connections.close();
    const store = new NativeMessageStore(connections, { keys: nativeKeys('p', 'orders'), limits: options });
    const { writer, queue, offer } = newWriter(store);
    await expect(writer.write(offer('a'))).rejects.toMatchObject({ code: 'CLOSED' });
    await expect(writer.writeMany([offer('a')])).rejects.toMatchObject({ code: 'CLOSED' });
    expect(queue.pendingOffers).toBe(0);
  });
});

class Noting extends MemoryMessageStore {
  readonly calls: string[][] = [];
  override offer(offers: readonly Offer[]): Promise<OfferReceipt[]> {
    this.calls.push(offers.map(({ id }) => id));
    return super.offer(offers);
  }
}

describe('an offer made while another payload is being encoded', () => {
  it('is sent in the same call as the other offer, ahead of it', async () => {
    const store = new Noting({ limits: options, clock: new ManualClock() });
    const queue = new Queue('orders', options, new PlainRouter(store));
    const queues: Pick<Queues, 'named'> = { named: () => queue };
    const module = await Test.createTestingModule({
      providers: [
        DelayQueueProducer,
        Offers,
        Changes,
        { provide: REPEATS, useValue: {} },
        QueueParts,
        { provide: AgainAdvice, useValue: new AgainAdvice(new ManualClock(), new LoggedEvents()) },
        RelayTarget,
        { provide: Queues, useValue: queues },
        { provide: QueueRegistrar, useValue: { register: () => undefined } },
        { provide: STORES, useValue: {} },
        { provide: CLOCK, useValue: new ManualClock() },
        { provide: RESOLVED_OPTIONS, useValue: {} },
        { provide: Instance, useValue: {} },
      ],
    }).compile();
    const producer = module.get(DelayQueueProducer);
    const offer = (id: string, payload: unknown) => producer.offer('orders', payload, '1h', { id });
    let inner: Promise<unknown> | undefined;
    await offer('outer', { toJSON: () => ((inner = offer('inner', 1)), 1) });
    await inner;
    expect(store.calls).toEqual([['inner', 'outer']]);
  });
});
