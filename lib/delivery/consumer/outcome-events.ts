import type { Events } from '../../events/events.js';
import { againWatch } from '../../message/again-watch.js';
import type { MessageFailure } from '../../message/message.js';
import type { Outcome } from '../../store/message-flow.js';
import type { Delivery, HeldDelivery } from './delivery.js';
import type { SettleResult } from './settler.js';

/** The event for each kind of accepted outcome; a message that was given back is nobody's news. */
const EVENT_OF = { ack: 'handled', retry: 'retried', defer: 'deferred', again: 'again', dead: 'dead' } as const;

/** Tells what has become of a message, once it is certain. */
export function tellOutcome(
  events: Events,
  { queue, id, type, attempt }: Delivery,
  outcome: Outcome,
  result: SettleResult,
): void {
  if (outcome.kind === 'release') return;
  if (result === 'refused') events.emit('lease-lost', { queue, id });
  const name = EVENT_OF[outcome.kind];
  if (result !== 'accepted' || !events.has(name)) return;
  const attempted = { queue, id, type, attempt };
  if (outcome.kind !== 'dead') events.emit(EVENT_OF[outcome.kind], attempted);
  else events.emit('dead', { ...attempted, by: outcome.by ?? 'handler', failure: parseFailure(outcome.error) });
}

/** Tells of calls of `again()` that are known to be in vain now. */
export function tellAgainInVain(events: Events, held: HeldDelivery, outcome: Outcome, result: SettleResult): void {
  const wasHandled = outcome.kind === 'ack' && result === 'accepted';
  for (const place of againWatch.ended(held, wasHandled)) events.note('again-in-vain', { place });
}

const parseFailure = (error: string) => JSON.parse(error) as MessageFailure;
