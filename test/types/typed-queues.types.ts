/** Uses of typed queues that the compiler accepts, and uses that it rejects. Nothing here runs. */
import { createParamDecorator } from '@nestjs/common';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import {
  DelayedHandler,
  type DelayedMessage,
  DelayQueue,
  type DelayQueueProducer,
  type MessageOf,
  payload,
  type PayloadOf,
} from '../../lib/index.js';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(..._: T[]): void => undefined;

class PaymentDto {
  orderId!: string;
  amount!: number;
}

class Orders extends DelayQueue(
  'orders',
  {
    'cancel-unpaid': z.object({ orderId: z.string(), at: z.iso.datetime().transform((text) => new Date(text)) }),
    remind: v.object({ orderId: v.string(), nth: v.number() }),
    audit: type({ orderId: 'string' }),
    pay: PaymentDto,
    note: payload<{ text: string }>(),
  },
  { concurrency: 32 },
) {}

export class Retried extends DelayQueue(
  'retried',
  { note: payload<{ text: string }>(), remind: payload<{ nth: number }>() },
  { attempts: 9, types: { note: { attempts: 1 }, remind: { backoff: { type: 'exponential' } } } },
) {}
export class Misspelt extends DelayQueue(
  'misspelt',
  { note: payload<string>() },
  // @ts-expect-error The queue has no such type
  { types: { nota: { attempts: 1 } } },
) {}

class Emails extends DelayQueue('emails', z.object({ to: z.email() })) {}
class Trips extends DelayQueue('trips', payload<{ id: number }>(), { attempts: 3 }) {}
export class Visits extends DelayQueue('visits', type({ page: 'string' })) {}
class Payments extends DelayQueue('payments', PaymentDto) {}

holds<Equal<PayloadOf<typeof Orders, 'cancel-unpaid'>, { orderId: string; at: Date }>>();
holds<Equal<PayloadOf<typeof Orders, 'remind'>, { orderId: string; nth: number }>>();
holds<Equal<PayloadOf<typeof Orders, 'audit'>, { orderId: string }>>();
holds<Equal<PayloadOf<typeof Orders, 'pay'>, PaymentDto>>();
holds<Equal<PayloadOf<typeof Orders, 'note'>, { text: string }>>();
holds<Equal<MessageOf<typeof Orders, 'note'>['type'], 'note'>>();
holds<Equal<PayloadOf<typeof Emails>, { to: string }>>();
holds<Equal<MessageOf<typeof Emails>, DelayedMessage<{ to: string }, ''>>>();
holds<Equal<PayloadOf<typeof Visits>, { page: string }>>();
// @ts-expect-error a queue of types has no message without one
holds<Equal<PayloadOf<typeof Orders>['text'], string>>();

const Tenant = createParamDecorator(() => 'a tenant');

export class RightUses {
  constructor(
    private readonly orders: Orders,
    private readonly emails: Emails,
    private readonly trips: Trips,
    private readonly payments: Payments,
  ) {}

  async offer(): Promise<void> {
    await this.orders.offer('cancel-unpaid', { orderId: 'o', at: '2030-01-01T00:00:00Z' }, '30m', { id: 'x' });
    await this.orders.offerAt('note', { text: 'x' }, new Date(), { headers: { tenant: 't' }, onDuplicate: 'replace' });
    await this.orders.offer('note', { text: 'x' }, 0, { group: 'customer-7' });
    await this.orders.offerMany([
      { type: 'remind', group: 'customer-7', payload: { orderId: 'o', nth: 1 }, delay: '1d' },
      { type: 'audit', payload: { orderId: 'o' }, delay: 0, id: 'a' },
      { type: 'note', payload: { text: 'x' }, at: new Date() },
    ]);
    const { follows } = await this.emails.offer({ to: 'a@b.c' }, '1h', { id: 'x', onDuplicate: 'follow' });
    const only: true | undefined = follows;
    void only;
    await this.emails.offerMany([{ payload: { to: 'a@b.c' }, delay: 0 }]);
    await this.trips.offerAt({ id: 1 }, new Date());
    await this.payments.offer({ orderId: 'o', amount: 1 }, 0);
  }

  async change(): Promise<void> {
    await this.orders.reschedule('x', 0, { type: 'note', payload: { text: 'x' }, headers: { tenant: 't' } });
    await this.orders.reschedule('x', '1h', { headers: {} });
    await this.emails.reschedule('x', new Date(), { payload: { to: 'a@b.c' } });
    // @ts-expect-error A payload of another type
    await this.orders.reschedule('x', 0, { type: 'note', payload: { orderId: 'o' } });
    // @ts-expect-error A queue of several types: which one?
    await this.orders.reschedule('x', 0, { payload: { text: 'x' } });
    // @ts-expect-error A type without its payload
    await this.orders.reschedule('x', 0, { type: 'note' });
    // @ts-expect-error A queue of one kind has no types
    await this.emails.reschedule('x', 0, { type: 'note', payload: { to: 'a@b.c' } });
    const aborted: boolean = await this.orders.abort('x');
    const debounced = { id: 'x', onDuplicate: 'replace', maxWait: '1h' } as const;
    await this.emails.offer({ to: 'a@b.c' }, '1m', debounced);
    await this.orders.offer('note', { text: 'x' }, '1m', { expiresAfter: '5m', onExpired: 'dead' });
    // @ts-expect-error Neither 'drop' nor 'dead'
    await this.orders.offer('note', { text: 'x' }, '1m', { expiresAfter: '5m', onExpired: 'retry' });
    const own = { attempts: 3, backoff: { type: 'fixed', delay: '1m' } } as const;
    await this.orders.offer('note', { text: 'x' }, '1m', own);
    await this.orders.offerMany([{ type: 'note', payload: { text: 'x' }, delay: 0, ...own }]);
    await this.orders.reschedule('x', 0, own);
    await this.orders.reschedule('x', 0, { type: 'note', payload: { text: 'x' }, ...own });
    await this.emails.reschedule('x', 0, { attempts: 3 });
    await this.emails.repeat('x', { cron: '0 9 * * *', ...own }, { to: 'a@b.c' });
    // @ts-expect-error A function cannot be stored
    await this.emails.offer({ to: 'a@b.c' }, '1m', { backoff: () => 5 });
    // @ts-expect-error No such kind of backoff
    await this.emails.offer({ to: 'a@b.c' }, '1m', { backoff: { type: 'linear', delay: 5 } });
    const found = await this.orders.find('x');
    const shown: [number | undefined, number | undefined] = [found?.attempts, found?.backoff?.delay];
    void shown;
    // @ts-expect-error No such treatment of duplicates
    await this.emails.offer({ to: 'a@b.c' }, '1m', { id: 'x', onDuplicate: 'merge' });
    void aborted;
  }

  async look(): Promise<void> {
    const found = await this.orders.find('x');
    if (found?.type === 'cancel-unpaid') holds<Equal<typeof found.payload, { orderId: string; at: string }>>();
    if (found?.type === 'note') holds<Equal<typeof found.payload.text, string>>();
    const email: { to: string } | undefined = (await this.emails.find('x'))?.payload;
    const queue: string = this.orders.queue;
    void [queue, email];
  }

  async changeLimits(producer: DelayQueueProducer): Promise<void> {
    await this.orders.limits().set({ globalConcurrency: 5, rate: { max: 100, per: '1s' } }, { by: 'alice' });
    await producer.limits('orders').set({ rate: 'unlimited' });
    const setAt: Date | undefined = (await this.orders.limits().get())?.setAt;
    const wasSet: boolean = await producer.limits('orders').reset();
    // @ts-expect-error a typed queue has its name
    this.orders.limits('orders');
    // @ts-expect-error the option of a process
    await producer.limits('orders').set({ concurrency: 5 });
    void [setAt, wasSet];
  }

  async lookAtHandled(producer: DelayQueueProducer): Promise<void> {
    const found = await this.orders.find('x', { handled: true });
    if (found?.state === 'handled') {
      holds<Equal<typeof found.handledAt, Date>>();
      if (found.type === 'note') holds<Equal<typeof found.payload, { text: string } | undefined>>();
    }
    const waiting = await this.orders.find('x');
    // @ts-expect-error Only with `handled: true`
    const isHandled = waiting?.state === 'handled';
    for (const { took, payload } of (await this.emails.list('handled', { limit: 5 })).messages) {
      const shown: [number, { to: string } | undefined] = [took, payload];
      void shown;
    }
    const { messages } = await producer.list<{ id: number }>('trips', 'handled');
    const id: number | undefined = messages[0]?.payload?.id;
    // @ts-expect-error Handled messages cannot be searched
    await this.orders.search({ state: 'handled' });
    // @ts-expect-error No such option
    await this.orders.find('x', { handeld: true });
    void [id, isHandled];
  }

  async lookAtGroups(producer: DelayQueueProducer): Promise<void> {
    const group = this.orders.group('customer-7');
    for (const message of (await group.list('delayed', { limit: 10 })).messages) {
      if (message.type === 'note') holds<Equal<typeof message.payload.text, string>>();
      holds<Equal<typeof message.group, string | undefined>>();
    }
    const numbers: number[] = [await group.cancelAll(), await group.rescheduleAll('1h'), await group.redriveAll()];
    const { messages } = await producer.group<{ id: number }>('trips', 'customer-7').list('dead');
    const id: number | undefined = messages[0]?.payload.id;
    for (const each of [group, producer.group('trips', 'customer-7')]) {
      await each.pause();
      await each.resume();
      await each.setConcurrency(3);
      await each.setConcurrency('unlimited');
      await each.setConcurrency('default');
    }
    // @ts-expect-error not a duration
    await group.rescheduleAll('5 parsecs');
    // @ts-expect-error not a concurrency
    await group.setConcurrency('many');
    // @ts-expect-error not a name
    this.emails.group(7);
    void [numbers, id];
  }

  async lookAtTheDead(producer: DelayQueueProducer): Promise<void> {
    const { messages: letters } = await this.emails.deadLetters().list();
    const emails: { to: string }[] = letters.map((letter) => letter.payload);
    const page = { offset: 20 };
    for (const { messages } of [await this.orders.list('dead', page), await this.orders.deadLetters().list(page)]) {
      for (const letter of messages) {
        if (letter.type === 'note') holds<Equal<typeof letter.payload.text, string>>();
        const [diedAt, error]: [Date, Error] = [letter.diedAt, letter.error];
        void [diedAt, error];
      }
    }
    const letter = (await producer.list<{ id: number }>('trips', 'dead')).messages[0]!;
    const same: typeof letter = (await producer.deadLetters<{ id: number }>('trips').list()).messages[0]!;
    const death: [number, Date] = [same.payload.id, same.diedAt];
    void [emails, letter, death];
  }

  @DelayedHandler(Orders, 'cancel-unpaid')
  cancel({ at }: PayloadOf<typeof Orders, 'cancel-unpaid'>, message: MessageOf<typeof Orders, 'cancel-unpaid'>): void {
    const date: Date = at;
    const kind: 'cancel-unpaid' = message.type;
    void [date, kind];
  }

  @DelayedHandler(Orders, 'remind', { timeout: '5s', backoff: { type: 'fixed', delay: '1s' } })
  async remind(given: { orderId: string }): Promise<void> {
    await Promise.resolve(given);
  }

  @DelayedHandler(Orders, 'audit')
  audit(): void {}

  @DelayedHandler(Orders, 'pay')
  pay(dto: PaymentDto, message: DelayedMessage<PaymentDto>): void {
    void [dto, message];
  }

  @DelayedHandler(Orders, 'note')
  note(_: unknown, message: DelayedMessage): void {
    void message;
  }

  @DelayedHandler(Orders, 'remind')
  remindTenant(given: { orderId: string }, _: unknown, @Tenant() tenant: string): void {
    void [given, tenant];
  }

  @DelayedHandler(Emails, { timeout: '5s' })
  protected send({ to }: PayloadOf<typeof Emails>): void {
    void to;
  }

  @DelayedHandler(Trips)
  leave({ id }: { id: number }, { payload: whole }: MessageOf<typeof Trips>): void {
    void [id, whole.id];
  }

  @DelayedHandler(Visits, { batch: 100, batchWait: '200ms' })
  count(pages: PayloadOf<typeof Visits>[], messages: readonly MessageOf<typeof Visits>[]): void {
    void [pages[0]?.page, messages[0]?.payload.page];
  }

  @DelayedHandler(Orders, 'note', { batch: 10, timeout: '1m' })
  read(notes: readonly { text: string }[]): PromiseSettledResult<void>[] {
    void notes;
    return [];
  }

  @DelayedHandler(Visits, { batch: 100, batchPerGroup: true })
  countOfOne(pages: PayloadOf<typeof Visits>[]): void {
    void pages;
  }

  @DelayedHandler('orders', 'of-a-customer', { batch: 100, batchPerGroup: true })
  @DelayedHandler('orders', { concurrency: 3, batch: 5 })
  anything(given: { any: true }[], messages: readonly DelayedMessage<{ any: true }>[]): void {
    void [given, messages];
  }

  @DelayedHandler('orders', 'of-another-service', { timeout: '1s' })
  untyped(given: number): void {
    void given;
  }
}

export class WrongUses {
  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly orders: Orders,
    private readonly emails: Emails,
  ) {}

  async offer(): Promise<void> {
    // @ts-expect-error there is no such type
    await this.orders.offer('cancel', {}, 1);
    // @ts-expect-error that is the payload of another type
    await this.orders.offer('remind', { orderId: 'x', at: '' }, 1);
    // @ts-expect-error the input is text, not the Date that the handler gets
    await this.orders.offer('cancel-unpaid', { orderId: 'x', at: new Date() }, 1);
    // @ts-expect-error there is no type to name
    await this.emails.offer('email', { to: 'a@b.c' }, 1);
    // @ts-expect-error a type is not an option of a typed offer
    await this.emails.offer({ to: 'a@b.c' }, 1, { type: 'email' });
    // @ts-expect-error a message of a list needs its type
    await this.orders.offerMany([{ payload: { orderId: 'o', nth: 1 }, delay: '1d' }]);
    // @ts-expect-error that is the payload of another type
    await this.orders.offerMany([{ type: 'audit', payload: { text: 'x' }, delay: '1d' }]);
    // @ts-expect-error it never falls due
    await this.orders.offerMany([{ type: 'audit', payload: { orderId: 'o' } }]);
    // @ts-expect-error it cannot fall due twice
    await this.emails.offerMany([{ payload: { to: 'a@b.c' }, delay: 0, at: new Date() }]);
    // @ts-expect-error it never falls due
    await this.producer.offerMany('orders', [{ payload: 1 }]);
    // @ts-expect-error it cannot fall due twice
    await this.producer.offerMany('orders', [{ payload: 1, delay: 0, at: new Date() }]);
    // @ts-expect-error a queue of one kind has no types
    await this.emails.offerMany([{ type: 'email', payload: { to: 'a@b.c' }, delay: 0 }]);
  }

  // @ts-expect-error there is no such type
  @DelayedHandler(Orders, 'cancel')
  a(): void {}

  // @ts-expect-error a number is no text
  @DelayedHandler(Orders, 'remind')
  b(given: { orderId: number }): void {
    void given;
  }

  // @ts-expect-error it asks for more than the payload has
  @DelayedHandler(Orders, 'remind')
  c(given: { orderId: string; nth: number; more: boolean }): void {
    void given;
  }

  // @ts-expect-error the handler gets the output of the schema, a Date
  @DelayedHandler(Orders, 'cancel-unpaid')
  d(given: { at: string }): void {
    void given;
  }

  // @ts-expect-error that is the message of another type
  @DelayedHandler(Orders, 'remind')
  e(_: unknown, message: MessageOf<typeof Orders, 'audit'>): void {
    void message;
  }

  // @ts-expect-error concurrency is an option of the queue
  @DelayedHandler(Orders, 'remind', { concurrency: 2 })
  f(): void {}

  // @ts-expect-error a queue of types needs one
  @DelayedHandler(Orders)
  g(): void {}

  // @ts-expect-error a queue of one kind has no types
  @DelayedHandler(Emails, 'email')
  h(): void {}

  // @ts-expect-error attempts are an option of the queue
  @DelayedHandler(Emails, { attempts: 2 })
  i(): void {}

  // @ts-expect-error a handler of batches gets an array
  @DelayedHandler(Emails, { batch: 10 })
  k(given: { to: string }): void {
    void given;
  }

  // @ts-expect-error a handler that is given one message gets no array
  @DelayedHandler(Emails)
  l(given: { to: string }[]): void {
    void given;
  }

  // @ts-expect-error a wait without a batch waits for nothing
  @DelayedHandler(Emails, { batchWait: '1s' })
  m(): void {}

  // @ts-expect-error nor is there anything to have per group
  @DelayedHandler(Emails, { batchPerGroup: true })
  n(): void {}

  // @ts-expect-error it asks for more than the payload has
  @DelayedHandler(Emails)
  j(given: { to: string; subject: string }): void {
    void given;
  }
}

// @ts-expect-error a payload is a schema, a class or payload<T>()
export class WrongPayload extends DelayQueue('wrong', { text: 'string' }) {}
// @ts-expect-error there is no such option
export class WrongOption extends DelayQueue('wrong', payload<string>(), { concurency: 2 }) {}
