import type { HandlerOptions, QueueHandlerOptions } from '../options/queue-options.js';
import { type ClassMethod, fullNameOf } from './class-explorer.js';
import { DeclaredMethods } from './declared-methods.js';
import type { DefinedBy } from './definition/queue-definition.js';
import type { DecoratorOfHandler, HandlerArguments } from './handler-types.js';

/** What a `@DelayedHandler` was given, unchecked. */
export interface HandlerDeclaration {
  /** A name, a family of names, or the class of a typed queue. */
  readonly queue: unknown;
  /** Undefined: none was given. */
  readonly type: string | undefined;
  readonly options: QueueHandlerOptions;
}

/** All methods with a `@DelayedHandler`. */
export const declaredHandlers = new DeclaredMethods<HandlerDeclaration>({
  decorator: '@DelayedHandler',
  code: 'INVALID_HANDLER',
  key: Symbol.for('nestjs-delay-queue:handlers'),
});

/**
 * Makes a method of a provider or a controller the handler of a queue: it gets every message whose type has no handler of its
 * own. It is called with the payload and the message, and may return a value, a Promise or an Observable. Once that completes
 * without an error, the message is gone; an error is retried after `backoff` until `attempts` are spent.
 *
 * With a type it gets the messages of that type. Its options are `timeout`, `backoff` and those of batches; the others are
 * options of the queue. A message whose type this process has no handler for is put off until another process handles it
 * (`unknownTypeGrace`). A queue can have only one handler for each type, and one without a type, in an application.
 *
 * With the class of a typed queue instead of a name, the compiler refuses a method that asks for more than the payload has. A
 * queue of types needs the type of the handler. Its options are the same, because those of the queue stand in the class.
 *
 * Guards, pipes, interceptors and exception filters of the method or its class run around it as they do around a route, in a
 * context of type `'delay-queue'` whose arguments are the payload and the message. What they throw fails the attempt; a filter that
 * returns has the message acknowledged. Global ones are left out without the module's `inheritAppConfig`.
 *
 * On a provider that is, or injects, a request-scoped one, each message has an instance of its own, and `REQUEST` injects the
 * message. A controller must be a singleton.
 *
 * With a `*` at the end of the name it handles a family: every queue whose name begins like that, also one that is offered to for
 * the first time while the application runs. `message.queue` tells which one it is. The options hold for each of the queues by
 * itself: `concurrency: 4` are four calls for each queue at once. A queue with a handler of its own name is not handled by a
 * family; of several families it belongs to the one with the longest name. Not every layout allows families.
 *
 * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`, or the beginning of such names and a `*`; or a class that
 *   `DelayQueue()` made, or one that extends it
 * @param args - the type, as given to `offer`, if the handler is to get only one: 1–64 of the characters `A–Z a–z 0–9 _ . : -`.
 *   Then the options, which override the module's `defaults`; the queue's entry in the module's `queues` overrides them
 *
 * @example
 * ```ts
 * @Injectable()
 * class OrderTimeouts {
 *   @DelayedHandler('orders', { concurrency: 32 })
 *   async handle(payload: { orderId: string }, message: DelayedMessage) {}
 *
 *   @DelayedHandler('orders', 'cancel-unpaid', { timeout: '10s' })
 *   async cancelUnpaid(payload: { orderId: string }) {}
 *
 *   @DelayedHandler('tenant-*', { concurrency: 4 })
 *   async remind(payload: { orderId: string }, message: DelayedMessage) {}
 * }
 * ```
 *
 * @example
 * ```ts
 * class Orders extends DelayQueue('orders', { remind: payload<{ orderId: string }>() }) {}
 * class Emails extends DelayQueue('emails', payload<{ to: string }>()) {}
 * class Visits extends DelayQueue('visits', payload<{ page: string }>()) {}
 *
 * @Injectable()
 * class Handlers {
 *   @DelayedHandler(Orders, 'remind', { timeout: '10s' })
 *   async remind({ orderId }: PayloadOf<typeof Orders, 'remind'>) {}
 *
 *   @DelayedHandler(Emails)
 *   async send({ to }: PayloadOf<typeof Emails>) {}
 *
 *   @DelayedHandler(Visits, { batch: 100, batchWait: '200ms' })
 *   async count(visits: PayloadOf<typeof Visits>[]) {}
 * }
 * ```
 */
export function DelayedHandler<
  const Queue extends string | DefinedBy<unknown>,
  const TypeOrOptions,
  const Batch extends number | undefined = undefined,
>(
  // With a class of several types, and nothing after it, this cannot be satisfied; the compiler shows its name.
  queue: HandlerArguments<Queue, TypeOrOptions, Batch> extends [type?: string]
    ? Queue & Readonly<Record<'a queue of several types needs the type of the handler', unknown>>
    : Queue,
  ...args: HandlerArguments<Queue, TypeOrOptions, Batch>
): DecoratorOfHandler<Queue, TypeOrOptions, Batch>;
// Overloads would be simpler to read, but of a mistake in one the compiler says that it fits none.
export function DelayedHandler(
  queue: unknown,
  typeOrOptions: string | QueueHandlerOptions = {},
  optionsOfType: HandlerOptions = {},
): MethodDecorator {
  const isTyped = typeof typeOrOptions === 'string';
  return declaredHandlers.decorate({
    queue,
    type: isTyped ? typeOrOptions : undefined,
    options: isTyped ? optionsOfType : typeOrOptions,
  });
}

/** Where a handler is declared, for errors. */
export function placeOf(handler: ClassMethod): string {
  return `@DelayedHandler on ${fullNameOf(handler)}`;
}
