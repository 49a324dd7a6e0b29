import type { QueueOptions } from '../options/queue-options.js';

/**
 * Where the decorator leaves its declarations, on the method itself: an override without a decorator is no handler. All copies of
 * the package share it, so that a handler is found whichever copy decorated it.
 */
const DECLARATIONS = Symbol.for('nestjs-delay-queue:handlers');

/** What a {@link DelayedHandler} declared. */
export interface HandlerDeclaration {
  readonly queue: string;
  readonly options: QueueOptions;
}

/**
 * Makes a method of a provider or a controller the handler of a queue. It is called with the payload and the message, and
 * may return a value, a Promise or an Observable; when that is done without an error, the message is gone.
 *
 * A queue has one handler in an application. Guards, interceptors and pipes do not apply: there is no request.
 *
 * @param queue - 1–128 of the characters `A–Z a–z 0–9 _ . : -`
 * @param options - override the module's `defaults`; what `queues` says of the queue overrides them
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
