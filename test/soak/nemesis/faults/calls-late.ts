import { callsOf } from '../../../support/tcp-proxy/filters.js';
import { OFFER_TIMEOUT } from '../../workload/message-plan.js';
import type { Fault } from '../fault.js';

/** Until their time is up these may count, whatever their caller did meanwhile; they come later than that. */
const OF_CALLERS: readonly string[] = ['offer', 'cancel', 'reschedule'];
/** Between processes, and between the clocks that the time is measured with, ms. */
const MARGIN = 500;

/** For so many ms calls are waited for, a step at a time. */
const LONGEST_WAIT = 3000;
const STEP = 50;

const CALLS = ['offer', 'claim', 'settle', 'extend', 'cancel', 'transfer', 'reschedule'] as const;

/** A client's connection breaks right after a call was sent; the call comes to the server when the client has long moved on. */
export const callsLate: Fault = {
  kind: 'calls late',
  of: 'network',
  costsLeases: true,
  strike: async ({ fleet, proxy, soak, open, wait }, random, turn) => {
    const call = CALLS[(soak.seed + turn) % CALLS.length]!;
    const isOfCaller = OF_CALLERS.includes(call);
    const times = isOfCaller ? 1 : random.int(1, 3);
    const delay = random.int(isOfCaller ? OFFER_TIMEOUT + MARGIN : 1000, 8000);
    const close = open(
      fleet.behindProxy,
      `${times} times ${call} cut off from its client, and delivered after ${delay} ms`,
    );
    const late = proxy.deliverLate(callsOf(call), times);
    for (let waited = 0; late.count < times && waited < LONGEST_WAIT; waited += STEP) await wait(STEP);
    await wait(delay);
    late.release();
    close();
  },
};
