import type { HandlerOptions, QueueHandlerOptions } from '../options/queue-options.js';
import { type ClassMethod, fullNameOf } from './class-explorer.js';
import { DeclaredMethods } from './declared-methods.js';
import type { DefinedBy } from '../options/queue-definition.js';
import type { DecoratorOfHandler, HandlerArguments } from './handler-types.js';

/** The arguments of a `@DelayedHandler`, unchecked. */
export interface HandlerDeclaration {
  /** A queue's name, a family's name, or the class of a typed queue. */
  readonly queue: unknown;
  readonly type: string | undefined;
  readonly options: QueueHandlerOptions;
}

export const declaredHandlers = new DeclaredMethods<HandlerDeclaration>({
  decorator: '@DelayedHandler',
  code: 'INVALID_HANDLER',
  key: Symbol.for('nestjs-delay-queue:handlers'),
});

/**
 * Makes a method of a provider or a controller the handler of a queue: it gets every message whose type does not have its own handler. The
 * method is called with the payload and the message, and may return a value, a Promise or an Observable. Once the handler completes without
 * an error, the message is gone; after an error, the message is retried after `backoff` until `attempts` are used up.
 *
 * With a type, the handler gets the messages of that type. Its options are `timeout`, `backoff` and those for batches; all others belong to
 * the queue. A message whose type has no handler in this process is put off until another process handles it (`unknownTypeGrace`). In an
 * application, a queue can have one handler for each type, and one without a type.
 *
 * With the class of a typed queue instead of a name, the compiler refuses a method that asks for more than the payload has. If the queue
 * has types, the handler must name its type. The queue's options are declared in the class.
 *
 * Guards, pipes, interceptors and exception filters of the method or its class run around it as around a route, in a context of type
 * `'delay-queue'` whose arguments are the payload and the message. An error from any of them fails the attempt; if a filter returns, the
 * message is acknowledged. Global ones run only with the module's `inheritAppConfig`.
 *
 * If the provider is request-scoped, or injects one that is, each message gets its own instance, and `REQUEST` injects the message. A
 * controller must be a singleton.
 *
 * A name that ends with `*` is a family: every queue whose name begins with what precedes the `*`, including queues first used while the
 * application runs. `message.queue` names the queue. The options apply to each queue: `concurrency: 4` means four calls at once for each
 * queue. A queue with its own handler does not belong to the family; if several families match, it belongs to the one with the longest
 * name. Not every layout allows families.
 * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`, or the beginning of such names followed by `*`; or a class made by
 *   `DelayQueue()`, or a subclass of one
 * @param args - the type, as given to `offer`, if the handler gets only one: 1–64 of the characters `A–Z a–z 0–9 _ . : -`. Then the
 *   options, which override the module's `defaults`; the queue's entry in the module's `queues` overrides them
 * @example
 * ```ts
 * class Visits extends DelayQueue('visits', payload<{ page: string }>()) {}
 * @Injectable()
 * class Handlers {
 *   @DelayedHandler('orders', { concurrency: 32 })
 *   async handle(payload: { orderId: string }, message: DelayedMessage) {}
 *
 *   @DelayedHandler('orders', 'cancel-unpaid', { timeout: '10s' })
 *   async cancelUnpaid(payload: { orderId: string }) {}
 *
 *   @DelayedHandler('tenant-*', { concurrency: 4 })
 *   async remind(payload: { orderId: string }, message: DelayedMessage) {}
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
  // If a class with several types is the only argument, nothing satisfies this type, and the compiler shows the property's name.
  queue: HandlerArguments<Queue, TypeOrOptions, Batch> extends [type?: string]
    ? Queue & Readonly<Record<'a queue of several types needs the type of the handler', unknown>>
    : Queue,
  ...args: HandlerArguments<Queue, TypeOrOptions, Batch>
): DecoratorOfHandler<Queue, TypeOrOptions, Batch>;
// A conditional type rather than overloads: for a wrong argument, the compiler would say only that no overload matches.
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

export function placeOf(handler: ClassMethod): string {
  return `@DelayedHandler on ${fullNameOf(handler)}`;
}
