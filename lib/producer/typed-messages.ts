import type { PayloadInput, SpecOf, TypesOf } from '../options/queue-definition.js';
import type { HandledMessage } from '../history/handled-message.js';
import type { MessageHeaders, MessageSnapshot } from '../message/message.js';
import type { MessageChange } from './changes.js';
import type { OfferDue, TypedOfferOptions } from './offer.js';

/**
 * A message of a typed queue, as `find` and `list` return it. There is one variant for each type of message.
 * @typeParam T - the payload's type, where `Payloads` is `unknown`
 */
export type SnapshotOf<Payloads, T = unknown> = unknown extends Payloads
  ? MessageSnapshot<T>
  : { [Type in TypesOf<Payloads>]: MessageSnapshot<PayloadInput<SpecOf<Payloads, Type>>, Type> }[TypesOf<Payloads>];

/**
 * A handled message of a typed queue, as `list(queue, 'handled')` returns it. There is one variant for each type of message.
 * @typeParam T - the payload's type, where `Payloads` is `unknown`
 */
export type HandledOf<Payloads, T = unknown> = unknown extends Payloads
  ? HandledMessage<T>
  : { [Type in TypesOf<Payloads>]: HandledMessage<PayloadInput<SpecOf<Payloads, Type>>, Type> }[TypesOf<Payloads>];

/** One message of a typed queue's `offerMany`. */
export type TypedOfferRequest<Payloads> = {
  [Type in TypesOf<Payloads>]: TypedOfferOptions &
    OfferDue & {
      /** The schema's input. */
      readonly payload: PayloadInput<SpecOf<Payloads, Type>>;
    } & ('' extends Type
      ? {
          /** A queue whose messages are all of one kind has no types. */
          readonly type?: undefined;
        }
      : {
          /** One of the queue's types. */
          readonly type: Type;
        });
}[TypesOf<Payloads>];

/** Changes that a typed queue's `reschedule` makes besides the due time. A new payload names its type if the queue has types. */
export type TypedChange<Payloads> = Pick<MessageChange, 'attempts' | 'backoff'> &
  (
    | {
        [Type in TypesOf<Payloads>]: {
          /** The schema's input; replaces the payload. */
          readonly payload: PayloadInput<SpecOf<Payloads, Type>>;
          /** Replaces all headers. */
          readonly headers?: MessageHeaders | undefined;
        } & ('' extends Type
          ? {
              /** A queue whose messages are all of one kind has no types. */
              readonly type?: undefined;
            }
          : {
              /** One of the queue's types; replaces the message's type. */
              readonly type: Type;
            });
      }[TypesOf<Payloads>]
    | {
        /** Replaces all headers. */
        readonly headers?: MessageHeaders | undefined;
        /** Changing the type requires a `payload`. */
        readonly type?: undefined;
        /** The payload stays as it is. */
        readonly payload?: undefined;
      }
  );
