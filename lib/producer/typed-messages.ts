import type { PayloadInput } from '../handler/definition/payload-spec.js';
import type { SpecOf, TypesOf } from '../handler/definition/queue-definition.js';
import type { MessageHeaders, MessageSnapshot } from '../message/message.js';
import type { OfferDue, TypedOfferOptions } from './offer.js';

/**
 * A message of a typed queue looked at from outside, by its type.
 *
 * @typeParam T - the payload's type, where `Payloads` is `unknown`
 */
export type SnapshotOf<Payloads, T = unknown> = unknown extends Payloads
  ? MessageSnapshot<T>
  : { [Type in TypesOf<Payloads>]: MessageSnapshot<PayloadInput<SpecOf<Payloads, Type>>, Type> }[TypesOf<Payloads>];

/** One message of a typed queue's `offerMany`. */
export type TypedOfferRequest<Payloads> = {
  [Type in TypesOf<Payloads>]: TypedOfferOptions &
    OfferDue & {
      /** What its schema takes. */
      readonly payload: PayloadInput<SpecOf<Payloads, Type>>;
    } & ('' extends Type
      ? {
          /** There is none to name. */
          readonly type?: undefined;
        }
      : {
          /** One of the queue's. */
          readonly type: Type;
        });
}[TypesOf<Payloads>];

/** What `reschedule` of a typed queue changes besides the due time: a payload, which names its type if there are several, or headers. */
export type TypedChange<Payloads> =
  | {
      [Type in TypesOf<Payloads>]: {
        /** What its schema takes, in place of the present payload. */
        readonly payload: PayloadInput<SpecOf<Payloads, Type>>;
        /** In place of all present headers. */
        readonly headers?: MessageHeaders | undefined;
      } & ('' extends Type
        ? {
            /** There is none to name. */
            readonly type?: undefined;
          }
        : {
            /** One of the queue's, in place of the present one. */
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
