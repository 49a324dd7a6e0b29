import type { FaultWindow } from '../../nemesis/fault-window.js';
import { LEASE } from '../../workload/message-plan.js';
import type { ClaimStory, MessageStory } from '../message-story.js';

/** The cause of a start that nothing explains. */
export const UNATTRIBUTED = 'unattributed';

/**
 * Why a message was started again after an earlier claim of it.
 *
 * The rule is strict. Once an ack is confirmed, no fault excuses another start. Before that, an attempt must have been
 * spent on a lease that had the time to end, and a fault that can end leases must have been felt by the very holder while
 * it held the message.
 */
export function attribute(
  story: MessageStory,
  [earlier, later]: readonly [ClaimStory, ClaimStory],
  windows: readonly FaultWindow[],
): string {
  const { end, settle } = earlier;
  if (later.version !== earlier.version) {
    return end?.how === 'again' ? 'asked for again by its handler' : 'replaced by its producer';
  }
  if (settle?.result !== 'refused') {
    if (end?.how === 'failed') return 'failed attempt';
    if (end?.how === 'deferred') return 'put off by its handler';
  }
  if (end?.how === 'aborted' && settle?.outcome === 'release' && settle.result !== 'refused') {
    return 'gave way to a shutdown';
  }
  const leaseEnded = later.attempt > earlier.attempt && later.startedAt >= earlier.sentAt + LEASE;
  // A handler that gave way to the loss of its lease fails, and that counts if nobody has taken the lease over yet.
  if (leaseEnded && (settle?.result !== 'accepted' || end?.how === 'aborted')) {
    const fault = feltBy(earlier, { until: settle?.at ?? later.startedAt, windows });
    if (fault) return fault.kind;
  }
  const repeated = story.offers.some(({ outcome, version }) => outcome === 'unknown' && version === later.version);
  return repeated ? 'offered again after an unknown outcome' : UNATTRIBUTED;
}

/** Of the faults that a holder felt while it held a message, the one that was closest to it. */
function feltBy(
  { process, sentAt }: ClaimStory,
  { until, windows }: { until: number; windows: readonly FaultWindow[] },
): FaultWindow | undefined {
  const felt = windows.filter(({ from, to, processes, costsLeases }) => {
    return costsLeases && from <= until && to >= sentAt && (processes === 'all' || processes.includes(process));
  });
  return felt.sort((a, b) => distance(a) - distance(b))[0];
}

/** One's own fate comes before that of a network, and this before that of the server; the machine comes last. */
function distance({ injected, processes }: FaultWindow): number {
  if (!injected) return Infinity;
  return processes === 'all' ? Number.MAX_SAFE_INTEGER : processes.length;
}
