import type { PayloadInput } from '../handler/definition/payload-spec.js';
import type { SpecOf, TypesOf } from '../handler/definition/queue-definition.js';
import type { MessageHeaders, MessageSnapshot } from '../message/message.js';
import type { OfferDue, TypedOfferOptions } from './offer.js';

/**
 * A message of a typed queue as `find` and `list` show it, by its type.
 * @typeParam T - the payload's type, where `Payloads` is `unknown`
 */
export type SnapshotOf<Payloads, T = unknown> = unknown extends Payloads
  ? MessageSnapshot<T>
  : { [Type in TypesOf<Payloads>]: MessageSnapshot<PayloadInput<SpecOf<Payloads, Type>>, Type> }[TypesOf<Payloads>];

/** One message of a typed queue's `offerMany`. */
export type TypedOfferRequest<Payloads> = {
  [Type in TypesOf<Payloads>]: TypedOfferOptions &
    OfferDue & {
      /** The input of its schema. */
      readonly payload: PayloadInput<SpecOf<Payloads, Type>>;
    } & ('' extends Type
      ? {
          /** No type to name. */
          readonly type?: undefined;
        }
      : {
          /** A type of the queue. */
          readonly type: Type;
        });
}[TypesOf<Payloads>];

/**
 * Changes that `reschedule` of a typed queue makes besides the due time: a payload, which names its type if there are several, or headers.
 */
export type TypedChange<Payloads> =
  | {
      [Type in TypesOf<Payloads>]: {
        /** The input of its schema, in place of the present payload. */
        readonly payload: PayloadInput<SpecOf<Payloads, Type>>;
        /** In place of all present headers. */
        readonly headers?: MessageHeaders | undefined;
      } & ('' extends Type
        ? {
            /** No type to name. */
            readonly type?: undefined;
          }
        : {
            /** A type of the queue, in place of the present one. */
            readonly type: Type;
          });
    }[TypesOf<Payloads>]
  | {
      /** In place of all present headers. */
      readonly headers?: MessageHeaders | undefined;
      /** Goes with a payload. */
      readonly type?: undefined;
      /** The present one stays. */
      readonly payload?: undefined;
    };
