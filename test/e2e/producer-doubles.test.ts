import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { type DeadLetters, DelayQueueModule, DelayQueueProducer, type OfferResult } from '../../lib/index.js';
import { type RedissonQueue } from '../../packages/redisson/src/index.js';

@Injectable()
class Shop {
  constructor(private readonly producer: DelayQueueProducer) {}

  async place(orderId: string): Promise<string> {
    return (await this.producer.offer('orders', { orderId }, '30m')).id;
  }
}

const ACCEPTED: OfferResult = { id: 'accepted', dueAt: new Date(0), created: true };

/** A double as a user's tests may write it. */
class Offers implements Pick<DelayQueueProducer, 'offer'> {
  readonly payloads: unknown[] = [];

  offer<T>(_queue: string, payload: T): Promise<OfferResult> {
    this.payloads.push(payload);
    return Promise.resolve(ACCEPTED);
  }
}

describe("the producer in an application's tests", () => {
  let module: TestingModule | undefined;
  afterEach(() => module?.close());

  test('can be replaced by a double in the providers of a testing module', async () => {
    const offers = new Offers();
    module = await Test.createTestingModule({
      providers: [Shop, { provide: DelayQueueProducer, useValue: offers }],
    }).compile();
    expect(await module.get(Shop).place('o-1')).toBe('accepted');
    expect(offers.payloads).toEqual([{ orderId: 'o-1' }]);
  });

  test.each<[string, () => object]>([
    ['a custom class', () => new Offers()],
    ['mocked functions', () => ({ offer: jest.fn<DelayQueueProducer['offer']>().mockResolvedValue(ACCEPTED) })],
    [
      'a class derived from it',
      () =>
        new (class extends DelayQueueProducer {
          override offer(): Promise<OfferResult> {
            return Promise.resolve(ACCEPTED);
          }
        })(),
    ],
  ])('can be overridden in the whole application by %s', async (_how, double) => {
    @Module({ imports: [DelayQueueModule.forRoot({ store: 'memory' })], providers: [Shop] })
    class AppModule {}
    module = await Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(DelayQueueProducer)
      .useValue(double())
      .compile();
    await module.init();
    expect(await module.get(Shop).place('o-1')).toBe('accepted');
  });

  test('can be spied on through its prototype, and keeps its type where it is looked up', async () => {
    module = await Test.createTestingModule({
      imports: [DelayQueueModule.forRoot({ store: 'memory' })],
      providers: [Shop],
    }).compile();
    await module.init();
    const offer = jest.spyOn(DelayQueueProducer.prototype, 'offer').mockResolvedValueOnce(ACCEPTED);
    expect(await module.get(Shop).place('o-1')).toBe('accepted');
    offer.mockRestore();
    // Nest's types say `any` for a token that is not a constructible class, and then any method would compile.
    const producer = module.get(DelayQueueProducer);
    // @ts-expect-error -- it has no such method
    expect(producer.offers).toBeUndefined();
    await expect(producer.counts('orders')).resolves.toMatchObject({ delayed: 0 });
  });

  test('has dead letters and Redisson queues that plain objects can replace', async () => {
    const deadLetters: Pick<DeadLetters, 'redriveAll'> = { redriveAll: () => Promise.resolve(3) };
    const redisson: RedissonQueue = {
      size: () => Promise.resolve(0),
      contains: () => Promise.resolve(false),
      remove: () => Promise.resolve(false),
      readAll: () => Promise.resolve([]),
      peek: () => Promise.resolve(null),
      poll: () => Promise.resolve(null),
    };
    expect(await redisson.size()).toBe(0);
    expect(await deadLetters.redriveAll()).toBe(3);
  });
});
