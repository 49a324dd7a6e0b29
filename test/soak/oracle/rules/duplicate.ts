import type { FaultWindow } from '../../nemesis/fault-window.js';
import { LEASE } from '../../workload/message-plan.js';
import type { ClaimStory, MessageStory } from '../message-story.js';

/** The cause of an unexplained start. */
export const UNATTRIBUTED = 'unattributed';

/** The cause of a start after another process had started the message with the next attempt: rare, because a process must be frozen for it. */
const STARTED_LATE = 'frozen on starting it';

/** The cause of a start of a message that was there twice, one after the other. */
const REPEATED = 'offered again after an unknown outcome';

/**
 * Says why a message was started again after an earlier claim.
 *
 * The rule is strict. Once an ack is accepted, no fault excuses another start. Before that, an attempt must have been spent
 * on a lease that had time to end, and the holder itself must have felt a fault that can end leases while it held the
 * message.
 */
export function attribute(
  story: MessageStory,
  [earlier, later]: readonly [ClaimStory, ClaimStory],
  windows: readonly FaultWindow[],
): string {
  const { end, settle } = earlier;
  const repeated = story.offers.some(({ outcome, version }) => outcome === 'unknown' && version === later.version);
  if (later.version === earlier.version && later.attempt > earlier.attempt && earlier.startedAt > later.startedAt) {
    // A claim that was sent after the next attempt had started is of another message, which counts its attempts anew.
    if (repeated && earlier.sentAt > later.startedAt) return REPEATED;
    // Its lease had ended by then. A process checks that right before it starts a handler, and may be frozen between the two.
    return feltBy(earlier, { until: earlier.startedAt, windows }) ? STARTED_LATE : UNATTRIBUTED;
  }
  if (later.version !== earlier.version) {
    return end?.how === 'again' ? 'asked for again by its handler' : causeOf(story, later);
  }
  if (settle?.result !== 'refused') {
    if (end?.how === 'failed') return 'failed attempt';
    if (end?.how === 'deferred') return 'deferred by its handler';
  }
  const stopped = end?.how === 'aborted' || end?.how === 'hung';
  if (stopped && settle?.outcome === 'release' && settle.result !== 'refused') return 'released for a shutdown';
  const leaseEnded = later.attempt > earlier.attempt && later.startedAt >= earlier.sentAt + LEASE;
  if (end?.how === 'hung' && isSpent(settle, { leaseEnded, attempts: later.attempt - earlier.attempt })) {
    return 'held up by an observer';
  }
  // A handler aborted by the loss of its lease fails, and that counts if nobody has taken the message over yet.
  if (leaseEnded && (settle?.result !== 'accepted' || end?.how === 'aborted')) {
    const fault = feltBy(earlier, { until: settle?.at ?? later.startedAt, windows });
    if (fault) return fault.kind;
  }
  if (repeated) return REPEATED;
  return isAskedForAnew(story, [earlier, later]) ? 'asked for again by its handler' : UNATTRIBUTED;
}

/** Why there is another version, which no handler has asked for. */
function causeOf({ offers }: MessageStory, { version }: ClaimStory): string {
  const how = offers.find((offer) => offer.version === version)?.how;
  if (how === 'follow') return 'its follower';
  return how === 'change' ? 'changed by its producer' : 'replaced by its producer';
}

/** True if an attempt that an observer held up was spent: as a failure, or with its lease after its process had stopped. */
function isSpent(settle: ClaimStory['settle'], { leaseEnded, attempts }: { leaseEnded: boolean; attempts: number }) {
  return settle ? settle.outcome === 'retry' && settle.result !== 'refused' && attempts > 0 : leaseEnded;
}

/**
 * A message that was offered twice because the first outcome was unknown is handled twice, and each time its handler may ask
 * for it again. Each accepted ack uses up one of these requests. What was not answered may have been accepted.
 */
function isAskedForAnew({ claims }: MessageStory, [earlier, later]: readonly [ClaimStory, ClaimStory]): boolean {
  const requests = claims.filter(
    ({ version, end, settle }) =>
      version === later.version - 1 && end?.how === 'again' && settle && settle.result !== 'refused',
  );
  const acked = claims
    .slice(0, claims.indexOf(later))
    .filter((claim) => claim.version === later.version && isAcked(claim));
  const { end, settle } = earlier;
  const mayBeAcked = settle ? settle.outcome === 'ack' && settle.result !== 'refused' : end?.how === 'handled';
  return mayBeAcked && requests.length > acked.length;
}

function isAcked({ settle }: ClaimStory): boolean {
  return settle?.outcome === 'ack' && settle.result === 'accepted';
}

/** The closest fault that a holder felt while it held the message. */
function feltBy(
  { process, sentAt }: ClaimStory,
  { until, windows }: { until: number; windows: readonly FaultWindow[] },
): FaultWindow | undefined {
  const felt = windows.filter(({ from, to, processes, costsLeases }) => {
    return costsLeases && from <= until && to >= sentAt && (processes === 'all' || processes.includes(process));
  });
  return felt.sort((a, b) => distance(a) - distance(b))[0];
}

/** A fault of the process itself is closer than one of the network, and that closer than one of the server; the machine is last. */
function distance({ injected, processes }: FaultWindow): number {
  if (!injected) return Infinity;
  return processes === 'all' ? Number.MAX_SAFE_INTEGER : processes.length;
}
