import { describe, expect, test } from '@jest/globals';
import { Controller, Injectable, type Provider } from '@nestjs/common';
import { DelayedHandler, type QueueOptions } from '../../lib/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { handlerOf, type TestAppParts } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('handlers', () => {
  const scene = new Scene();

  class Base {
    readonly calls: unknown[] = [];
    @DelayedHandler('inherited')
    inherited(payload: unknown): void {
      this.calls.push(['inherited', payload]);
    }
    @DelayedHandler('overridden')
    overridden(payload: unknown): void {
      this.calls.push(['overridden', payload]);
    }
  }

  @Injectable()
  class Derived extends Base {
    override overridden(payload: unknown): void {
      this.calls.push(['override', payload]);
    }
    @DelayedHandler('own')
    own(payload: unknown): void {
      this.calls.push(['own', payload]);
    }
  }

  test('are called on the instance, even if they are inherited or overridden', async () => {
    const { producer, context, log } = await scene.startApp({ providers: [Derived] });
    for (const queue of ['inherited', 'own', 'overridden']) await producer.offer(queue, queue, 0);
    const { calls } = context.get(Derived);
    await until(() => calls.length === 3);

    expect([...calls].sort()).toEqual([
      ['inherited', 'inherited'],
      ['override', 'overridden'],
      ['own', 'own'],
    ]);
    expect(log.filter((line) => line.includes('Handling queue'))).toHaveLength(3);
  });

  test('can handle two queues with one method of a controller', async () => {
    const queues = [scene.newQueue(), scene.newQueue()] as const;
    @Controller()
    class Orders {
      readonly seen: unknown[] = [];
      @DelayedHandler(queues[0])
      @DelayedHandler(queues[1])
      handle(payload: unknown): void {
        this.seen.push(payload);
      }
    }
    const { producer, context } = await scene.startApp({ controllers: [Orders] });
    await producer.offer(queues[0], 1, 0);
    await producer.offer(queues[1], 2, 0);
    await until(() => context.get(Orders).seen.length === 2);
    expect([...context.get(Orders).seen].sort()).toEqual([1, 2]);
  });

  test('are found only once, even if another token is an alias of their provider', async () => {
    const queue = scene.newQueue();
    const handled = new Handled();
    const Handler = handlerOf(queue, handled.record);
    const providers: Provider[] = [
      { provide: 'made', useFactory: () => new Handler() as object },
      { provide: 'alias', useExisting: 'made' },
      { provide: 'nothing', useValue: null },
      { provide: 'bare', useValue: Object.create(null) as object },
      { provide: 'text', useValue: 'text' },
    ];
    const { producer } = await scene.startApp({ providers });
    await producer.offer(queue, 1, 0);
    await handled.untilCalls(1);
    expect(handled.payloads).toEqual([1]);
  });

  /** Expects startup to fail with an error that contains the words. */
  async function expectStartToFail(parts: TestAppParts, code: string, ...words: string[]): Promise<void> {
    const error: unknown = await scene.startApp(parts).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'DelayQueueError', code });
    for (const word of words) expect((error as Error).message).toContain(word);
  }

  function classWith(queue: string, options?: QueueOptions) {
    @Injectable()
    class Timeouts {
      @DelayedHandler(queue, options)
      cancelUnpaid(): void {}
    }
    return Timeouts;
  }

  test('make startup fail if two of them are for the same queue', async () => {
    @Injectable()
    class Others {
      @DelayedHandler('one')
      alsoCancel(): void {}
    }
    const providers = [classWith('one'), Others];
    await expectStartToFail({ providers }, 'INVALID_HANDLER', 'one', 'Timeouts.cancelUnpaid', 'Others.alsoCancel');
  });

  test.each<[string, unknown]>([
    ['concurrency', { concurrency: 0 }],
    ['concurrency', { concurrency: '16' }],
    ['lease', { lease: '5 parsecs' }],
    ['lease', { lease: 10 }],
    ['attempts', { attempts: 1.5 }],
    ['backoff', { backoff: { type: 'linear', delay: 5 } }],
    ['delay', { backoff: { type: 'fixed' } }],
    ['concurency', { concurency: 5 }],
    ['layout', { layout: 'other' }],
  ])('make startup fail if the decorator has an invalid %s', (field, options) =>
    expectStartToFail(
      { providers: [classWith('q', options as QueueOptions)] },
      'INVALID_OPTION',
      'Timeouts.cancelUnpaid',
      field,
    ),
  );

  test.each(['', 'a b', 'a{b}', 'x'.repeat(129), undefined])(
    'make startup fail if the decorator has the queue name %p',
    (queue) => expectStartToFail({ providers: [classWith(queue!)] }, 'INVALID_HANDLER', 'Timeouts.cancelUnpaid'),
  );
});
