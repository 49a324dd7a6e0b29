import type { DefinedBy, MessageOf, PayloadOf, PayloadSpec, TypesOf } from '../options/queue-definition.js';
import type { Duration } from '../message/duration.js';
import type { DelayedMessage } from '../message/message.js';
import type { HandlerOptions, QueueHandlerOptions } from '../options/queue-options.js';

/**
 * The arguments of {@link DelayedHandler} after the queue.
 * @typeParam Queue - a name, or `typeof` the class of a typed queue
 * @typeParam TypeOrOptions - the first argument after the queue
 * @typeParam Batch - the option `batch` of a handler of a typed queue
 */
export type HandlerArguments<Queue, TypeOrOptions, Batch extends number | undefined> =
  Queue extends DefinedBy<infer Payloads>
    ? Payloads extends PayloadSpec
      ? [options?: TypedHandlerOptions<Batch>]
      : unknown extends TypeOrOptions
        ? // The compiler reports the missing type at the parameter for the queue.
          [type?: TypesOf<Payloads>]
        : [
            type: [TypeOrOptions] extends [TypesOf<Payloads>] ? TypeOrOptions : TypesOf<Payloads>,
            options?: TypedHandlerOptions<Batch>,
          ]
    : [TypeOrOptions] extends [string]
      ? [type: TypeOrOptions, options?: HandlerOptions]
      : [options?: QueueHandlerOptions];

/** The decorator of {@link DelayedHandler}. For a typed queue, accepts only methods that fit the payloads and, with `batch`, arrays. */
export type DecoratorOfHandler<Queue, TypeOrOptions, Batch extends number | undefined> =
  Queue extends DefinedBy<infer Payloads>
    ? [Payloads extends PayloadSpec ? '' : TypeOrOptions] extends [infer Type extends TypesOf<Payloads>]
      ? HandlerDecorator<
          Batch extends number
            ? [PayloadOf<Queue, Type>[], MessageOf<Queue, Type>[]]
            : [PayloadOf<Queue, Type>, MessageOf<Queue, Type>]
        >
      : MethodDecorator
    : [Batch] extends [number]
      ? number extends Batch
        ? // The compiler does not know whether options in a variable have a batch.
          MethodDecorator
        : HandlerDecorator<
            [never[], DelayedMessage<never, never>[]],
            'with batch, the handler must accept an array of payloads and one of messages'
          >
      : // A payload may be an array, too.
        MethodDecorator;

/**
 * The options of a handler of a typed queue.
 * @typeParam Batch - the value of `batch`; undefined if each call gets one message
 */
export interface TypedHandlerOptions<Batch extends number | undefined> extends Pick<
  HandlerOptions,
  'timeout' | 'backoff' | 'repeat'
> {
  /** The maximum batch size; the handler gets an array of payloads and one of messages. 1–1000. Default: one message, not in an array. */
  readonly batch?: Batch;
  /** How long the first message of a batch waits for more. Only with `batch`. 0 ms – 1 h. Default: `0`. */
  readonly batchWait?: Batch extends number ? Duration | undefined : undefined;
  /**
   * True if a batch holds messages of one group only, or only messages without a group. Only with `batch`. Needs the queue's `groups` with
   * a `concurrency` of 2 or more, which also limits the size of such a batch. See `docs/groups.md`. Default: `false`.
   */
  readonly batchPerGroup?: Batch extends number ? boolean | undefined : undefined;
}

/**
 * A decorator that accepts only methods that can be called with the given arguments. The arguments are compared as tuples, because
 * TypeScript checks the parameters of methods bivariantly. The method may have further parameters if they are decorated.
 * @typeParam Given - the arguments
 * @typeParam Rule - the name that the compiler shows when it rejects a method
 * @typeParam Method - the decorated method
 */
export type HandlerDecorator<
  Given extends unknown[],
  Rule extends string = 'the handler must accept the payloads of its queue',
> = <Method extends (...args: never[]) => unknown>(
  target: object,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<Method> &
    (Given extends { [At in keyof Given]: At extends keyof Parameters<Method> ? Parameters<Method>[At] : unknown }
      ? unknown
      : // Cannot be satisfied; the compiler shows the name of the rule.
        Readonly<Record<Rule, readonly [expected: Given, found: Parameters<Method>]>>),
) => void;
