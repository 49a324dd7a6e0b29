import { Inject, Injectable } from '@nestjs/common';
import { readContent } from '../message/codec/message-codec.js';
import type { DefinedBy, PayloadInput, PayloadSpec, SpecOf, TypesOf } from '../options/queue-definition.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { UNNAMED } from '../message/instance-name.js';
import { shownRetries } from '../message/retries.js';
import type { CheckedDuration, Duration } from '../message/duration.js';
import type { Queues } from '../runtime/queues.js';
import { ApplicationUnderTest } from './application-under-test.js';
import { type CallBounds, readBounds, readLength } from './call-bounds.js';
import { type HandleOptions, readHandleOptions, type TypedHandleOptions } from './handle-options.js';
import type { HandleOutcome } from './handle-outcome.js';
import { HandlerTrial } from './handler-trial.js';
import type { OfferedMessage } from './offered-message.js';
import { waitPatiently } from './patience.js';
import { unended } from './problems.js';
import { type HandleArguments, type QueueArgument, readHandleArguments, readQueue } from './queue-argument.js';
import type { TakenOffer } from './watched-store.js';

/**
 * Shows what an application under test has offered, and what its handlers do as time goes by. Provided by `DelayQueueTestingModule`. Time
 * stands still until a test moves it. For everything else, use the producer: `find`, `counts`, `deadLetters`.
 * @example
 * ```ts
 * await shop.place('o-1');
 * expect(queue.offered('orders')).toHaveLength(1);
 * await queue.advance('30m');
 * ```
 */
@Injectable()
export class DelayQueueTester {
  // Property injection keeps constructor parameters and their types out of the public API.
  @Inject() private readonly app!: ApplicationUnderTest;
  #instance = UNNAMED;
  #trials = 0;

  /**
   * Returns the tester of a named instance. Instances share one time: whichever tester moves it, messages are handled in order of due time.
   * @param name - the name given to `DelayQueueModule.forRoot()`
   * @throws DelayQueueError `INVALID_OPTION` if there is no instance of this name
   * @example
   * ```ts
   * const billing = queue.instance('billing');
   * expect(billing.offered('invoices')).toHaveLength(1);
   * ```
   */
  instance(name: string): DelayQueueTester {
    const tester = new DelayQueueTester();
    tester.#instance = this.app.instance(name).name;
    return Object.assign(tester, { app: this.app });
  }

  /** The current time of the delay queue. The application's own `Date` and timers are not affected. */
  now(): Date {
    return new Date(this.app.bench.clock.wall());
  }

  /**
   * Lists the offers so far, in order, handled or not, including those made by handlers. An offer appears once, however many attempts its
   * message takes; `again()` is not an offer. Offers that were ignored (`created: false`) or refused do not appear.
   * @param queue - Default: all queues of the instance
   * @throws DelayQueueError `INVALID_ARGUMENT`, `INVALID_OPTION`
   * @example
   * ```ts
   * expect(queue.offered('orders')).toMatchObject([{ payload: { orderId: 'o-1' }, delay: 1_800_000 }]);
   * ```
   */
  offered<Payloads>(queue: DefinedBy<Payloads>): OfferedMessage<PayloadInput<SpecOf<Payloads, TypesOf<Payloads>>>>[];
  offered<T = unknown>(queue?: string): OfferedMessage<T>[];
  offered<T>(queue?: QueueArgument): OfferedMessage<T>[] {
    const { name, instance } =
      queue === undefined ? { name: undefined, instance: this.#instance } : readQueue(queue, this.#instance);
    const { queues } = this.app.instance(instance);
    const { offered } = this.app.bench.queuesOf(instance);
    const offers = offered.filter((offer) => name === undefined || offer.queue === name);
    return offers.map((offer) => show<T>(offer, queues));
  }

  /**
   * Lets time pass. Messages that fall due within that time are handled at their due time and in order, as are the retries and offers that
   * follow from them within that time. Resolves when the handlers are done. `advance(0)` handles what is due now.
   * @param duration - 0 ms – 100 years
   * @throws DelayQueueError `INVALID_ARGUMENT`; `NOT_STARTED` before `init()`; `UNFINISHED` if a handler does not end, or messages keep
   *   coming; `CLOSED`
   */
  async advance<const Length extends Duration = Duration>(
    duration: CheckedDuration<Length>,
    bounds: CallBounds = {},
  ): Promise<void> {
    const length = readLength('duration', duration);
    await this.app.timeFor('advance()').advance(length, readBounds(bounds));
  }

  /**
   * Lets time pass until the queues that this application handles have no delayed message left, not even a retry or a handler's offer.
   * @throws DelayQueueError as {@link advance}; `INVALID_OPTION` with `consume: false`, as no handler would be called
   */
  async drain(bounds: CallBounds = {}): Promise<void> {
    const time = this.app.timeFor('drain()');
    if (!this.app.instances.some(({ options }) => options.consume)) {
      const problem = 'drain(): this application starts no handlers (consume: false), so nothing would be handled';
      throw new DelayQueueError('INVALID_OPTION', `${problem}. Leave consume out in tests, or look at offered()`);
    }
    await time.drain(readBounds(bounds));
  }

  /**
   * Calls a handler with one message, and returns what would become of the message. Nothing is stored, and no time passes. As with a real
   * message, the handler gets the payload as it comes back from JSON, and the queue's options decide on retries.
   * @param payload - as for `offer`
   * @throws DelayQueueError `INVALID_ARGUMENT` if there is no such handler; `INVALID_PAYLOAD`, `PAYLOAD_TOO_LARGE`; `NOT_STARTED`;
   *   `UNFINISHED` if the handler does not end
   * @example
   * ```ts
   * const outcome = await queue.handle('orders', { orderId: 'o-1' }, { attempt: 5 });
   * expect(outcome.kind).toBe('dead');
   * ```
   */
  handle(queue: string, payload: unknown, options?: HandleOptions): Promise<HandleOutcome>;
  /** Calls a handler of a typed queue whose messages are all of one kind. */
  handle<Payload extends PayloadSpec>(
    queue: DefinedBy<Payload>,
    payload: PayloadInput<Payload>,
    options?: TypedHandleOptions,
  ): Promise<HandleOutcome>;
  /** Calls a handler of a typed queue with several types, given the type. */
  handle<Payloads, Type extends TypesOf<Payloads>>(
    queue: DefinedBy<Payloads>,
    type: Type,
    payload: PayloadInput<SpecOf<Payloads, Type>>,
    options?: TypedHandleOptions,
  ): Promise<HandleOutcome>;
  async handle(queue: QueueArgument, ...given: HandleArguments): Promise<HandleOutcome> {
    this.app.timeFor('handle()');
    const { name, instance } = readQueue(queue, this.#instance);
    const { payload, options } = readHandleArguments(queue, given);
    const { patience, ...message } = readHandleOptions(options, () => `test-${++this.#trials}`);
    const trial = new HandlerTrial(name, this.app.instance(instance), this.app.bench);
    const { id, type } = message;
    const described = { queue: name, id, type, handler: trial.handlerOf(type) };
    const late = () => unended({ name: 'handle()', patience }, described);
    return waitPatiently(trial.run({ ...message, payload }), patience, late);
  }

  /**
   * Removes all messages of the instance, resumes paused queues and forgets the offers, for use between two tests. Time stays as it is.
   * @throws DelayQueueError `UNFINISHED` while a call that moves time is running
   */
  async clear(): Promise<void> {
    const { bench, time } = this.app;
    const clear = () => bench.queuesOf(this.app.instance(this.#instance).name).clear();
    await (time?.exclusively('clear()', clear) ?? clear());
  }
}

function show<T>({ queue, id, body, dueAt, delay }: TakenOffer, queues: Queues): OfferedMessage<T> {
  const content = readContent<T>(queues.get(queue).codec, Buffer.from(body as string));
  const { type, payload, headers, group, retries } = content;
  const own = { ...(group !== undefined && { group }), ...(retries && shownRetries(retries)) };
  return { queue, id, type, payload, headers, ...own, dueAt: new Date(dueAt), delay };
}
