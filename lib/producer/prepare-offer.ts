import { encodeBody } from '../message/codec/encode-body.js';
import { NO_TYPE } from '../message/message-type.js';
import type { DueTime, Offer } from '../store/message-intake.js';
import type { OfferOptions } from './offer.js';
import type { Writer } from './offer-writer.js';

/** The options of an offer that may have been given an id already. */
export interface PreparedOptions extends OfferOptions {
  /** Generated for this offer, if it has no `id`. */
  readonly newId?: string;
}

/**
 * Encodes an offer and checks its size before anything is written.
 *
 * @throws DelayQueueError `INVALID_PAYLOAD`, `PAYLOAD_TOO_LARGE`
 */
export function prepareOffer(
  writer: Pick<Writer, 'queue' | 'newId'>,
  payload: unknown,
  due: DueTime,
  { type = NO_TYPE, id, newId, headers = {}, onDuplicate = 'keep' }: PreparedOptions,
): Offer {
  const { codec, options } = writer.queue;
  const body = encodeBody({ codec, maxPayloadBytes: options.maxPayloadBytes }, { type, payload, headers });
  return { id: id ?? newId ?? writer.newId(), due, onDuplicate, body, isNew: id === undefined };
}
