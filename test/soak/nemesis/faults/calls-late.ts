import { callsOf } from '../../../support/tcp-proxy/filters.js';
import { OFFER_TIMEOUT } from '../../workload/message-plan.js';
import type { Fault } from '../fault.js';

/** Calls with a deadline: until then they may take effect, so they are delivered later than that. */
const OF_CALLERS: readonly string[] = ['offer', 'cancel', 'reschedule'];
/** Allows for delays between processes and for differences between their clocks, ms. */
const MARGIN = 500;

/** The time to wait for the calls, and its steps, ms. */
const MAX_WAIT = 3000;
const STEP = 50;

const CALLS = ['offer', 'claim', 'settle', 'extend', 'cancel', 'transfer', 'reschedule'] as const;

/** A connection breaks right after a call was sent, and the call reaches the server when the client has long moved on. */
export const callsLate: Fault = {
  kind: 'calls late',
  of: 'network',
  costsLeases: true,
  strike: async ({ fleet, servers, soak, open, wait }, random, turn) => {
    const call = CALLS[(soak.seed + turn) % CALLS.length]!;
    const isOfCaller = OF_CALLERS.includes(call);
    const times = isOfCaller ? 1 : random.int(1, 3);
    const delay = random.int(isOfCaller ? OFFER_TIMEOUT + MARGIN : 1000, 8000);
    const close = open(
      fleet.behindProxy,
      `${call} cut off from its client ${times} times and delivered after ${delay} ms`,
    );
    const late = servers.network.deliverLate(callsOf(call), times);
    for (let waited = 0; late.count < times && waited < MAX_WAIT; waited += STEP) await wait(STEP);
    await wait(delay);
    late.release();
    close();
  },
};
