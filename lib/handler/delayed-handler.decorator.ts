import type { DefinedBy, SpecOf, TypesOf } from '../definition/queue-definition.js';
import type { PayloadOutput, PayloadSpec } from '../definition/payload-spec.js';
import type { DelayedMessage } from '../message/message.js';
import type { HandlerOptions, HandlerSettings, QueueHandlerOptions } from '../options/queue-options.js';
import type { HandlerDeclaration } from './handler-declaration.js';

/**
 * The metadata key of the declarations. They are stored on the method itself, so an override without a decorator is not a
 * handler. All copies of the package share the key, so a handler is found whichever copy decorated it.
 */
const DECLARATIONS = Symbol.for('nestjs-delay-queue:handlers');

/**
 * Makes a method of a provider or a controller the handler of a queue: it gets every message whose type has no handler of its
 * own. It is called with the payload and the message, and may return a value, a Promise or an Observable. Once that completes
 * without an error, the message is gone; an error is retried after `backoff` until `attempts` are spent.
 *
 * A queue can have only one such handler in an application.
 *
 * Guards, pipes, interceptors and exception filters of the method or its class run around it as they do around a route, in a
 * context of type `'delay-queue'` whose arguments are the payload and the message. What they throw fails the attempt; a filter that
 * returns has the message acknowledged. Global ones are left out without the module's `inheritAppConfig`.
 *
 * On a provider that is, or injects, a request-scoped one, each message has an instance of its own, and `REQUEST` injects the
 * message. A controller must be a singleton.
 *
 * With a `*` at the end it handles a family: every queue whose name begins like that, also one that is offered to for the first
 * time while the application runs. `message.queue` tells which one it is. The options hold for each of the queues by itself:
 * `concurrency: 4` are four calls for each queue at once. A queue with a handler of its own name is not handled by a family; of
 * several families it belongs to the one with the longest name. A family cannot have `layout: 'redisson'`.
 *
 * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`, or the beginning of such names and a `*`
 * @param options - override the module's `defaults`; the queue's entry in the module's `queues` overrides them
 *
 * @example
 * ```ts
 * @Injectable()
 * class OrderTimeouts {
 *   @DelayedHandler('orders', { concurrency: 32 })
 *   async cancelUnpaid(payload: { orderId: string }, message: DelayedMessage) {}
 *
 *   @DelayedHandler('tenant-*', { concurrency: 4 })
 *   async remind(payload: { orderId: string }, message: DelayedMessage) {}
 * }
 * ```
 */
export function DelayedHandler(queue: string, options?: QueueHandlerOptions): MethodDecorator;
/**
 * Makes a method the handler of one type of messages of a queue.
 *
 * A message whose type this process has no handler for is put off until another process handles it
 * (`unknownTypeGrace`).
 *
 * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`, or the beginning of such names and a `*`
 * @param type - as given to `offer`: 1–64 of the characters `A–Z a–z 0–9 _ . : -`
 * @param options - `timeout` and `backoff` of this type; the others are options of the queue
 *
 * @example
 * ```ts
 * @Injectable()
 * class OrderTimeouts {
 *   @DelayedHandler('orders', 'cancel-unpaid', { timeout: '10s' })
 *   async cancelUnpaid(payload: { orderId: string }) {}
 * }
 * ```
 */
export function DelayedHandler(queue: string, type: string, options?: HandlerOptions): MethodDecorator;
/**
 * Makes a method the handler of a typed queue whose messages are all of one kind. The compiler refuses a method that asks for
 * more than the payload has.
 *
 * @param queue - a class that `DelayQueue()` made, or one that extends it
 * @param options - `timeout` and `backoff`; the others are options of the queue
 *
 * @example
 * ```ts
 * class Emails extends DelayQueue('emails', payload<{ to: string }>()) {}
 *
 * @Injectable()
 * class Mailer {
 *   @DelayedHandler(Emails)
 *   async send({ to }: PayloadOf<typeof Emails>) {}
 * }
 * ```
 */
export function DelayedHandler<Payload extends PayloadSpec>(
  queue: DefinedBy<Payload>,
  options?: SingleHandlerOptions,
): HandlerDecorator<PayloadOutput<Payload>, ''>;
/**
 * Like the above, for a method that takes many messages in one call.
 *
 * @example
 * ```ts
 * class Visits extends DelayQueue('visits', payload<{ page: string }>()) {}
 *
 * @Injectable()
 * class Statistics {
 *   @DelayedHandler(Visits, { batch: 100, batchWait: '200ms' })
 *   async count(visits: PayloadOf<typeof Visits>[]) {}
 * }
 * ```
 */
export function DelayedHandler<Payload extends PayloadSpec>(
  queue: DefinedBy<Payload>,
  options: BatchHandlerOptions,
): BatchHandlerDecorator<PayloadOutput<Payload>, ''>;
/**
 * Makes a method the handler of one type of messages of a typed queue. The compiler refuses a method that asks for more than the
 * payload has.
 *
 * @param queue - a class that `DelayQueue()` made, or one that extends it
 * @param type - one of the queue's
 * @param options - `timeout` and `backoff` of this type; the others are options of the queue
 *
 * @example
 * ```ts
 * class Orders extends DelayQueue('orders', { remind: payload<{ orderId: string }>() }) {}
 *
 * @Injectable()
 * class Reminders {
 *   @DelayedHandler(Orders, 'remind', { timeout: '10s' })
 *   async remind({ orderId }: PayloadOf<typeof Orders, 'remind'>) {}
 * }
 * ```
 */
export function DelayedHandler<Payloads, Type extends TypesOf<Payloads>>(
  queue: DefinedBy<Payloads>,
  type: Type,
  options?: SingleHandlerOptions,
): HandlerDecorator<PayloadOutput<SpecOf<Payloads, Type>>, Type>;
/** Like the above, for a method that takes many messages of the type in one call. */
export function DelayedHandler<Payloads, Type extends TypesOf<Payloads>>(
  queue: DefinedBy<Payloads>,
  type: Type,
  options: BatchHandlerOptions,
): BatchHandlerDecorator<PayloadOutput<SpecOf<Payloads, Type>>, Type>;
export function DelayedHandler(
  queue: unknown,
  typeOrOptions: string | QueueHandlerOptions = {},
  optionsOfType: HandlerOptions = {},
): MethodDecorator {
  const isTyped = typeof typeOrOptions === 'string';
  const declaration: HandlerDeclaration = {
    queue,
    type: isTyped ? typeOrOptions : undefined,
    options: isTyped ? optionsOfType : typeOrOptions,
  };
  return (_target, _method, descriptor: PropertyDescriptor) => {
    const method = descriptor.value as object;
    Reflect.defineMetadata(DECLARATIONS, [...declarationsOf(method), declaration], method);
  };
}

/** The declarations on a method; none if it is not decorated. */
export function declarationsOf(method: object): readonly HandlerDeclaration[] {
  return (Reflect.getMetadata(DECLARATIONS, method) as HandlerDeclaration[] | undefined) ?? [];
}

/**
 * A decorator that accepts only methods which the messages of a queue can be given to.
 *
 * @typeParam Method - the decorated method
 */
export type HandlerDecorator<Payload, Type extends string> = <Method extends (...args: never[]) => unknown>(
  target: object,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<Method> & Accepts<Method, [Payload, DelayedMessage<Payload, Type>]>,
) => void;

/**
 * Like {@link HandlerDecorator}, for methods that take many messages in one call.
 *
 * @typeParam Method - the decorated method
 */
export type BatchHandlerDecorator<Payload, Type extends string> = <Method extends (...args: never[]) => unknown>(
  target: object,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<Method> & Accepts<Method, [Payload[], DelayedMessage<Payload, Type>[]]>,
) => void;

/** Options of a handler that takes one message in a call. */
export interface SingleHandlerOptions extends HandlerSettings {
  /** Only for a handler that takes an array. */
  readonly batch?: never;
  /** Only with `batch`. */
  readonly batchWait?: never;
}

/** Options of a handler that takes many messages in one call. */
export interface BatchHandlerOptions extends HandlerOptions {
  /** The maximum number of messages in one call. 1–1000. */
  readonly batch: number;
}

/**
 * Compared argument by argument, because TypeScript compares the parameters of methods both ways.
 *
 * @typeParam Method - the decorated method
 * @typeParam Given - the arguments that it is called with
 */
export type Accepts<Method extends (...args: never[]) => unknown, Given extends unknown[]> =
  Parameters<Method> extends [infer First, infer Second, ...unknown[]]
    ? [Given[0]] extends [First]
      ? [Given[1]] extends [Second]
        ? unknown
        : HandlerMismatch<Given[1], Second>
      : HandlerMismatch<Given[0], First>
    : Parameters<Method> extends [infer First, ...unknown[]]
      ? [Given[0]] extends [First]
        ? unknown
        : HandlerMismatch<Given[0], First>
      : unknown;

/** What the compiler shows of a handler that does not fit. */
export interface HandlerMismatch<Expected, Found> {
  /** Cannot be satisfied; its name is the message. */
  readonly 'the handler must accept what its queue gives': readonly [expected: Expected, found: Found];
}
