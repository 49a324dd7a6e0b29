import type { PayloadOutput, PayloadSpec } from './definition/payload-spec.js';
import type { DefinedBy, SpecOf, TypesOf } from './definition/queue-definition.js';
import type { Duration } from '../message/duration.js';
import type { DelayedMessage } from '../message/message.js';
import type { HandlerOptions, QueueHandlerOptions, QueueOptions } from '../options/queue-options.js';

/**
 * What {@link DelayedHandler} takes after the queue.
 *
 * @typeParam Queue - a name, or `typeof` the class of a typed queue
 * @typeParam TypeOrOptions - the first argument after it
 * @typeParam Batch - the option `batch` of a handler of a typed queue
 */
export type HandlerArguments<Queue, TypeOrOptions, Batch extends number | undefined> =
  Queue extends DefinedBy<infer Payloads>
    ? Payloads extends PayloadSpec
      ? [options?: TypedHandlerOptions<Batch>]
      : [
          type: [TypeOrOptions] extends [TypesOf<Payloads>] ? TypeOrOptions : TypesOf<Payloads>,
          options?: TypedHandlerOptions<Batch>,
        ]
    : [TypeOrOptions] extends [string]
      ? [type: TypeOrOptions, options?: HandlerOptions]
      : [options?: QueueHandlerOptions];

/** The decorator that {@link DelayedHandler} makes of its arguments: one of a typed queue accepts only what fits its payloads. */
export type DecoratorOfHandler<Queue, TypeOrOptions, Batch extends number | undefined> =
  Queue extends DefinedBy<infer Payloads>
    ? Payloads extends PayloadSpec
      ? DecoratorOfType<Payloads, '', Batch>
      : [TypeOrOptions] extends [TypesOf<Payloads>]
        ? DecoratorOfType<Payloads, TypeOrOptions, Batch>
        : MethodDecorator
    : MethodDecorator;

/** The decorator of the handler of a type, which is given one message or a batch of them. */
export type DecoratorOfType<Payloads, Type extends string, Batch extends number | undefined> = Batch extends number
  ? BatchHandlerDecorator<PayloadOutput<SpecOf<Payloads, Type>>, Type>
  : HandlerDecorator<PayloadOutput<SpecOf<Payloads, Type>>, Type>;

/**
 * The options of a handler of a typed queue.
 *
 * @typeParam Batch - of `batch`; undefined if the handler takes one message in a call
 */
export interface TypedHandlerOptions<Batch extends number | undefined> extends Pick<
  QueueOptions,
  'timeout' | 'backoff'
> {
  /**
   * The maximum number of messages in one call; the handler gets an array of payloads and one of messages. 1–1000.
   *
   * @defaultValue one message, not in an array
   */
  readonly batch?: Batch;
  /**
   * Only with `batch`: how long the first message of a batch waits for others. 0 ms – 1 h.
   *
   * @defaultValue `0`
   */
  readonly batchWait?: Batch extends number ? Duration | undefined : undefined;
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
