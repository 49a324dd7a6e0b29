import { wrapGroup } from '../../lib/message/codec/body-forms.js';
import type { QueueOptions } from '../../lib/index.js';
import type { Offer } from '../../lib/store/producer-store.js';

/** The option `groups` of a queue that has them. */
export type GroupOptions = Exclude<QueueOptions['groups'], 'off' | undefined>;

/** The offer of a message with a group, as a producer makes it. */
export function ofGroup(offer: Offer, group: string): Offer {
  return { ...offer, group, body: wrapGroup(offer.body, group) };
}
