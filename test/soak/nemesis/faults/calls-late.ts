import { callsOf } from '../../../support/tcp-proxy/filters.js';
import type { Fault } from '../fault.js';

const CALLS = ['offer', 'claim', 'settle', 'extend', 'cancel', 'transfer', 'reschedule'] as const;

/** A client's connection breaks right after a call was sent; the call comes to the server when the client has long moved on. */
export const callsLate: Fault = {
  kind: 'calls late',
  of: 'network',
  costsLeases: true,
  strike: async ({ fleet, proxy, soak, open, wait }, random, turn) => {
    const call = CALLS[(soak.seed + turn) % CALLS.length]!;
    const [times, delay] = [random.int(1, 3), random.int(1000, 8000)];
    const close = open(
      fleet.behindProxy,
      `${times} times ${call} cut off from its client, and delivered after ${delay} ms`,
    );
    const late = proxy.deliverLate(callsOf(call), times);
    await wait(delay);
    late.release();
    close();
  },
};
