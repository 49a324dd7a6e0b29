import type { FaultWindow } from '../../nemesis/fault-window.js';
import type { ClaimStory, MessageStory } from '../message-story.js';

/** The cause of a start that nothing explains. */
export const UNATTRIBUTED = 'unattributed';

/**
 * Why a message was started again after an earlier claim of it.
 *
 * The rule is strict: once an ack is confirmed, no fault excuses another start; before that, only a fault that its very
 * holder felt while it held the message.
 */
export function attribute(
  story: MessageStory,
  [earlier, later]: readonly [ClaimStory, ClaimStory],
  windows: readonly FaultWindow[],
): string {
  if (later.version !== earlier.version) return 'replaced by its producer';
  const { end, settle } = earlier;
  if (settle?.result !== 'refused') {
    if (end?.how === 'failed') return 'failed attempt';
    if (end?.how === 'deferred') return 'put off by its handler';
  }
  const repeated = story.offers.some(({ outcome, version }) => outcome === 'unknown' && version === later.version);
  if (settle?.result === 'accepted') return repeated ? 'offered again after an unknown outcome' : UNATTRIBUTED;
  const fault = feltBy(earlier, { until: settle?.at ?? later.startedAt, windows });
  if (fault) return fault.kind;
  return repeated ? 'offered again after an unknown outcome' : UNATTRIBUTED;
}

/** Of the faults that a holder felt while it held a message, the one that was closest to it. */
function feltBy(
  { process, sentAt }: ClaimStory,
  { until, windows }: { until: number; windows: readonly FaultWindow[] },
): FaultWindow | undefined {
  const felt = windows.filter(({ from, to, processes }) => {
    return from <= until && to >= sentAt && (processes === 'all' || processes.includes(process));
  });
  return felt.sort((a, b) => distance(a) - distance(b))[0];
}

/** One's own fate comes before that of a network, and this before that of the server; the machine comes last. */
function distance({ injected, processes }: FaultWindow): number {
  if (!injected) return Infinity;
  return processes === 'all' ? Number.MAX_SAFE_INTEGER : processes.length;
}
