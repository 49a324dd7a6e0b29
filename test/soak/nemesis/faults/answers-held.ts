import { callsOf } from '../../../support/tcp-proxy/filters.js';
import type { Fault } from '../fault.js';

/** Shorter than the time after which a call is given up, but longer than many messages take to expire, ms. */
const MIN_LENGTH = 500;
const MAX_LENGTH = 1800;

const CALLS = ['claim', 'transfer'] as const;

/** A network that holds up the answers to claims, so that they arrive when messages have expired. */
export const answersHeld: Fault = {
  kind: 'answers held',
  of: 'network',
  costsLeases: true,
  strike: async ({ fleet, servers, open, wait }, random) => {
    const length = random.int(MIN_LENGTH, MAX_LENGTH);
    const close = open(fleet.behindProxy, `answers to claims and transfers held for ${length} ms`);
    const holds = CALLS.map((call) => servers.network.holdReplies(callsOf(call)));
    await wait(length);
    for (const hold of holds) hold.release();
    close();
  },
};
