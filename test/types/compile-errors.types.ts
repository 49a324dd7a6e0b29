/** Mistakes, each below the first line of its compile error, which `compile-errors.tools.ts` compares. Nothing here runs. */
import {
  again,
  type DelayedMessage,
  DeferMessage,
  DelayedHandler,
  DelayQueue,
  DelayQueueModule,
  type DelayQueueProducer,
  type Duration,
  payload,
  type QueueHandlerOptions,
  RetryMessage,
} from '../../lib/index.js';
import type { DelayQueueTester } from '../../lib/testing/index.js';

class Orders extends DelayQueue('orders', { remind: payload<{ nth: number }>(), pay: payload<{ sum: number }>() }) {}
class Emails extends DelayQueue('emails', payload<{ to: string }>()) {}

export class WrongUses {
  // @ts-expect-error Object literal may only specify known properties, but 'concurency' does not exist in type 'QueueHandlerOptions'. Did you mean to write 'concurrency'?
  @DelayedHandler('b', { concurency: 1 })
  a(): void {}

  // @ts-expect-error Object literal may only specify known properties, but 'concurency' does not exist in type 'QueueHandlerOptions'. Did you mean to write 'concurrency'?
  @DelayedHandler('b', { timeout: '1s', concurency: 1 })
  b(): void {}

  // @ts-expect-error Type 'string' is not assignable to type 'number'.
  @DelayedHandler('b', { concurrency: '1' })
  c(): void {}

  // @ts-expect-error Object literal may only specify known properties, but 'timout' does not exist in type 'HandlerOptions'. Did you mean to write 'timeout'?
  @DelayedHandler('b', 'remind', { timout: '1s' })
  d(): void {}

  // @ts-expect-error Object literal may only specify known properties, and 'concurrency' does not exist in type 'HandlerOptions'.
  @DelayedHandler('b', 'remind', { concurrency: 1 })
  e(): void {}

  // @ts-expect-error Expected 1-2 arguments, but got 3.
  @DelayedHandler('b', { concurrency: 1 }, { timeout: '1s' })
  f(): void {}

  // @ts-expect-error Argument of type 'number' is not assignable to parameter of type 'string | DefinedBy<unknown>'.
  @DelayedHandler(7, { concurrency: 1 })
  g(): void {}

  // @ts-expect-error Expected at least 1 arguments, but got 0.
  @DelayedHandler()
  h(): void {}

  // @ts-expect-error Type '7' has no properties in common with type 'QueueHandlerOptions'.
  @DelayedHandler('b', 7)
  i(): void {}

  // @ts-expect-error Argument of type '"remnd"' is not assignable to parameter of type '"remind" | "pay"'.
  @DelayedHandler(Orders, 'remnd')
  j(): void {}

  // @ts-expect-error Argument of type 'typeof Orders' is not assignable to parameter of type 'typeof Orders & Readonly<Record<"a queue of several types needs the type of the handler", unknown>>'.
  @DelayedHandler(Orders)
  k(): void {}

  // @ts-expect-error Argument of type '{ timeout: string; }' is not assignable to parameter of type '"remind" | "pay"'.
  @DelayedHandler(Orders, { timeout: '1s' })
  l(): void {}

  // @ts-expect-error Object literal may only specify known properties, and 'concurrency' does not exist in type 'TypedHandlerOptions<undefined>'.
  @DelayedHandler(Orders, 'remind', { concurrency: 1 })
  m(): void {}

  // @ts-expect-error Object literal may only specify known properties, but 'timout' does not exist in type 'TypedHandlerOptions<undefined>'. Did you mean to write 'timeout'?
  @DelayedHandler(Orders, 'remind', { timout: 1 })
  n(): void {}

  // @ts-expect-error Type 'number' is not assignable to type 'undefined'.
  @DelayedHandler(Orders, 'remind', { timeout: 1, batchWait: 1 })
  o(): void {}

  // @ts-expect-error Type 'string' is not assignable to type 'number'.
  @DelayedHandler(Orders, 'remind', { batch: '1' })
  p(): void {}

  // @ts-expect-error Object literal may only specify known properties, and 'concurrency' does not exist in type 'TypedHandlerOptions<undefined>'.
  @DelayedHandler(Emails, { concurrency: 1 })
  q(): void {}

  // @ts-expect-error Object literal may only specify known properties, but 'timout' does not exist in type 'TypedHandlerOptions<undefined>'. Did you mean to write 'timeout'?
  @DelayedHandler(Emails, { timout: 1 })
  r(): void {}

  // @ts-expect-error Argument of type 'string' is not assignable to parameter of type 'TypedHandlerOptions<undefined>'.
  @DelayedHandler(Emails, 'email')
  s(): void {}

  // @ts-expect-error Type 'number' is not assignable to type 'undefined'.
  @DelayedHandler(Emails, { batchWait: 1 })
  t(): void {}

  // @ts-expect-error Object literal may only specify known properties, and 'instance' does not exist in type 'TypedHandlerOptions<undefined>'.
  @DelayedHandler(Emails, { instance: 'billing' })
  u(): void {}

  // @ts-expect-error Type 'number' is not assignable to type 'string'.
  @DelayedHandler('b', { instance: 7 })
  v(): void {}

  // @ts-expect-error Unable to resolve signature of method decorator when called as an expression.
  @DelayedHandler('b', { batch: 10 })
  w(one: { nth: number }): void {
    void one;
  }

  // @ts-expect-error Unable to resolve signature of method decorator when called as an expression.
  @DelayedHandler('b', 'remind', { batch: 10 })
  x(many: { nth: number }[], message: DelayedMessage): void {
    void [many, message];
  }
}

// @ts-expect-error Type 'number' is not assignable to type 'string'.
DelayQueueModule.forRoot({ name: 7 });
// @ts-expect-error Type '() => { name: string; }' is not assignable to type '(...args: any[]) => DelayQueueModuleOptions | Promise<DelayQueueModuleOptions>'.
DelayQueueModule.forRootAsync({ useFactory: () => ({ name: 'billing' }) });

declare const producer: DelayQueueProducer;
declare const orders: Orders;
declare const emails: Emails;
declare const tester: DelayQueueTester;
declare const options: QueueHandlerOptions;
declare const text: string;
declare const number: number;
declare const ids: string[];

export class RightUses {
  @DelayedHandler('b', { instance: 'billing', concurrency: 2 })
  e(): void {}

  @DelayedHandler('b', 'remind', { instance: 'billing' })
  f(): void {}

  @DelayedHandler('b', { concurrency: 2, backoff: (attempt) => attempt * 2 })
  a(): void {}

  @DelayedHandler('b', 'remind', { backoff: (attempt) => attempt * 2 })
  b(): void {}

  @DelayedHandler(Orders, 'remind', { backoff: (attempt) => attempt * 2 })
  c(given: { nth: number }): void {
    void given;
  }

  @DelayedHandler('b', { batch: 10 })
  g(many: readonly { nth: number }[], messages: readonly DelayedMessage<{ nth: number }>[]): void {
    void [many, messages];
  }

  @DelayedHandler('b', { batch: 10 })
  h(many: unknown): void {
    void many;
  }

  @DelayedHandler('b', { batch: 10 })
  i(): void {}

  @DelayedHandler('b', { concurrency: 2 })
  j(list: string[], message: DelayedMessage<string[]>): void {
    void [list, message];
  }

  @DelayedHandler('b', options)
  k(one: { nth: number }): void {
    void one;
  }

  @DelayedHandler(Emails, { batch: 2, batchWait: 1, backoff: (attempt) => attempt * 2 })
  d(given: { to: string }[]): void {
    void given;
  }
}

// @ts-expect-error Argument of type '"30 minuts"' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void producer.offer('b', {}, '30 minuts');
// @ts-expect-error Argument of type '"soon"' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void producer.offer('b', {}, 'soon');
// @ts-expect-error Argument of type '""' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void producer.offer('b', {}, '');
// @ts-expect-error Argument of type '"s"' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void producer.offer('b', {}, 's');
// @ts-expect-error Argument of type '"1h30m"' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void producer.offer('b', {}, '1h30m');
// @ts-expect-error Argument of type '"1M"' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void producer.offer('b', {}, '1M');
// @ts-expect-error Argument of type '"1 M"' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void producer.offer('b', {}, '1 M');
// @ts-expect-error Argument of type 'boolean' is not assignable to parameter of type 'Duration'.
void producer.offer<object>('b', {}, true);
void producer.offerMany('b', [
  { payload: 1, delay: '1d' },
  // @ts-expect-error Type '"soon"' is not assignable to type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y` | undefined'.
  { payload: 2, delay: 'soon' },
]);
// @ts-expect-error Type 'string' is not assignable to type 'Date'.
void producer.offerMany('b', [{ payload: 1, at: '2030-01-01' }]);
// @ts-expect-error Argument of type '"soon"' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void producer.reschedule('b', 'id', 'soon');
// @ts-expect-error Argument of type '"soon"' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void orders.offer('remind', { nth: 1 }, 'soon');
// @ts-expect-error Type '"soon"' is not assignable to type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y` | undefined'.
void orders.offerMany([{ type: 'remind', payload: { nth: 1 }, delay: 'soon' }]);
// @ts-expect-error Argument of type '"soon"' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void orders.reschedule('id', 'soon');
// @ts-expect-error Argument of type '"soon"' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void emails.offer({ to: '' }, 'soon');
// @ts-expect-error Type '"soon"' is not assignable to type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y` | undefined'.
void emails.offerMany([{ payload: { to: '' }, delay: 'soon' }]);
// @ts-expect-error Argument of type '"soon"' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void tester.advance('soon');
// @ts-expect-error Argument of type '"soon"' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void again('soon');
// @ts-expect-error Argument of type '"soon"' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void new DeferMessage('soon');
// @ts-expect-error Argument of type '"soon"' is not assignable to parameter of type '`${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d` | `${number}w` | `${number}y`'.
void new RetryMessage('soon');

declare const duration: Duration;
enum Delays {
  Short = '30s',
}
void producer.offer('b', {}, 5);
void producer.offer('b', {}, number);
void producer.offer('b', {}, text);
void producer.offer('b', {}, process.env.DELAY ?? '30m');
void producer.offer('b', {}, duration);
void producer.offer('b', {}, '30s');
void producer.offer('b', {}, '1.5h');
void producer.offer('b', {}, '.5h');
void producer.offer('b', {}, '-3 min');
void producer.offer('b', {}, '2 days');
void producer.offer('b', {}, '2  days');
void producer.offer('b', {}, '1y');
void producer.offer('b', {}, '1 Year');
void producer.offer('b', {}, '30 MINUTES');
void producer.offer('b', {}, '5 mSecs');
void producer.offer('b', {}, '500');
void producer.offer('b', {}, `${number}m`);
void producer.offer('b', {}, `${number} days`);
void producer.offer('b', {}, `${number} Days`);
void producer.offer('b', {}, `${number}.5h`);
void producer.offer('b', {}, `${text}m`);
void producer.offer('b', {}, `${number}${text}`);
void producer.offer('b', {}, number > 1 ? '1m' : 5);
void producer.offer('b', {}, Delays.Short);
void producer.offer<{ a: number }>('b', { a: 1 }, '30m');
void producer.offerMany('b', [
  { payload: 1, delay: '1d' },
  { payload: 2, delay: 0, id: 'x' },
  { payload: 3, delay: text },
]);
void producer.offerMany(
  'b',
  ids.map((id) => ({ payload: { id }, delay: '30m' })),
);
void producer.offerMany(
  'b',
  ids.map((id) => ({ payload: { id }, delay: text })),
);
void producer.offerMany('b', [
  { payload: 1, at: new Date() },
  { payload: 2, delay: '1d' },
]);
void producer.offerMany(
  'b',
  ids.map((id) => ({ payload: { id }, at: new Date() })),
);
void producer.reschedule('b', 'id', new Date());
void orders.reschedule('id', new Date());
void orders.offerMany([
  { type: 'remind', payload: { nth: 1 }, at: new Date() },
  { type: 'remind', payload: { nth: 1 }, delay: '1d' },
  { type: 'pay', payload: { sum: 1 }, delay: 0 },
]);
void emails.offer({ to: '' }, text);
void [again(new Date()), new DeferMessage(new Date())];
void [again(text), new DeferMessage(text), new RetryMessage(text), tester.advance(text), orders.reschedule('id', text)];

export const later: (delay: Duration) => Promise<unknown> = (delay) => producer.offer('b', {}, delay);
export class OtherProducer implements Pick<DelayQueueProducer, 'offer' | 'reschedule'> {
  offer(queue: string, given: unknown, delay: Duration) {
    return Promise.resolve({ id: queue + String(given), dueAt: new Date(delay), created: true });
  }

  reschedule(_queue: string, _id: string, due: Duration | Date) {
    return Promise.resolve(due === 0);
  }
}
export class TooEarly extends DeferMessage {
  constructor() {
    super('1m');
  }
}
// @ts-expect-error Type 'string' is not assignable to type 'number'.
void orders.repeat('remind', 'id', { cron: '0 9 * * *' }, { nth: '1' });
// @ts-expect-error Argument of type '{}' is not assignable to parameter of type 'RepeatOptions & Pick<OfferOptions, "type">'.
void producer.repeat('b', 'id', {}, 1);
// @ts-expect-error Type '"all"' is not assignable to type '"once" | "skip" | "each" | undefined'.
void emails.repeat('id', { cron: '0 9 * * *', missed: 'all' }, { to: text });

export function copyMessage(message: DelayedMessage): DelayedMessage {
  // @ts-expect-error Type '{ attempt: number; expiresAt?: Date | undefined; repeat?: Occurrence | undefined; id: string; queue: string; type: string; payload: unknown; headers: Readonly<Record<string, string>>; ... 4 more ...; offeredAt: Date; }' is missing the following properties from type 'DelayedMessage<unknown, string>': lateness, signal
  return { ...message };
}
