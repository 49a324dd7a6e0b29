import type { DelayedMessage } from '../../../lib/index.js';

/** A message as an observer gets it; it is 20 ms late. */
export function messageOf(id: string, headers: DelayedMessage['headers'] = {}): DelayedMessage {
  const due = new Date();
  const { signal } = new AbortController();
  return {
    id,
    queue: 'orders',
    type: 't',
    payload: {},
    headers,
    attempt: 1,
    lateness: 20,
    dueAt: due,
    offeredAt: due,
    signal,
  };
}
