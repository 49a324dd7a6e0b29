import type { QueueOptions } from '../options/queue-options.js';

/**
 * The metadata key of the declarations. They are stored on the method itself, so an override without a decorator is not a
 * handler. All copies of the package share the key, so a handler is found whichever copy decorated it.
 */
const DECLARATIONS = Symbol.for('nestjs-delay-queue:handlers');

/** What a {@link DelayedHandler} declares. */
export interface HandlerDeclaration {
  readonly queue: string;
  readonly options: QueueOptions;
}

/**
 * Makes a method of a provider or a controller the handler of a queue. It is called with the payload and the message, and
 * may return a value, a Promise or an Observable. Once that completes without an error, the message is gone; an error is
 * retried after `backoff` until `attempts` are spent.
 *
 * A queue can have only one handler in an application. Guards, interceptors and pipes do not apply: there is no request.
 *
 * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`
 * @param options - override the module's `defaults`; the queue's entry in the module's `queues` overrides them
 *
 * @example
 * ```ts
 * @Injectable()
 * class OrderTimeouts {
 *   @DelayedHandler('orders', { concurrency: 32 })
 *   async cancelUnpaid(payload: { orderId: string }, message: DelayedMessage) {}
 * }
 * ```
 */
export function DelayedHandler(queue: string, options: QueueOptions = {}): MethodDecorator {
  return (_target, _method, descriptor: PropertyDescriptor) => {
    const method = descriptor.value as object;
    const declarations: HandlerDeclaration[] = [...declarationsOf(method), { queue, options }];
    Reflect.defineMetadata(DECLARATIONS, declarations, method);
  };
}

/** The declarations on a method; none if it is not decorated. */
export function declarationsOf(method: object): readonly HandlerDeclaration[] {
  return (Reflect.getMetadata(DECLARATIONS, method) as HandlerDeclaration[] | undefined) ?? [];
}
