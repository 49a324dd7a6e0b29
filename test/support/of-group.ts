import { linesBefore, wrap } from '../../lib/message/codec/body-forms.js';
import type { MessageBody } from '../../lib/message/codec/message-codec.js';
import type { QueueOptions } from '../../lib/index.js';
import type { Offer } from '../../lib/store/producer-store.js';

/** The option `groups` of a queue that has them. */
export type GroupOptions = Exclude<QueueOptions['groups'], 'off' | undefined>;

/** Gives a body a group. */
export function wrapGroup(body: MessageBody, group: string): MessageBody {
  return wrap(linesBefore({ group }), body);
}

/** The offer of a message with a group, as a producer makes it. */
export function ofGroup(offer: Offer, group: string): Offer {
  return { ...offer, group, body: wrapGroup(offer.body, group) };
}
