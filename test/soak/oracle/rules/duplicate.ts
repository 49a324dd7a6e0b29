import type { FaultWindow } from '../../nemesis/fault-window.js';
import { LEASE } from '../../workload/message-plan.js';
import type { ClaimStory, MessageStory } from '../message-story.js';

/** The cause of an unexplained start. */
export const UNATTRIBUTED = 'unattributed';

/** The cause of a start after another process had started the message with the next attempt: rare, because a process must be frozen for it. */
const STARTED_LATE = 'frozen on starting it';

/** The cause of a start of a message that was there twice, one after the other. */
const REPEATED = 'offered again after an unknown outcome';

const ASKED_FOR = 'asked for again by its handler';

/**
 * Says why a message was started again after an earlier claim.
 *
 * The rule is strict. Once an ack is accepted, no fault excuses another start. Before that, an attempt must have been spent
 * on a lease that had time to end, and the holder itself must have felt a fault that can end leases while it held the
 * message. Only a message that may have been there several times is judged by numbers: nobody knows which start belongs to which.
 */
export function attribute(
  story: MessageStory,
  [earlier, later]: readonly [ClaimStory, ClaimStory],
  windows: readonly FaultWindow[],
): string {
  if (later.version !== earlier.version) return earlier.end?.how === 'again' ? ASKED_FOR : causeOf(story, later);
  const cause = causeBetween(earlier, later, windows);
  if (cause !== undefined) return cause;
  const { repeated, asked } = livesOf(story, later);
  const claims = story.claims.filter(({ version }) => version === later.version);
  const before = claims.slice(0, claims.indexOf(later));
  const setbacks = before.filter((claim) => claims.some((other) => causeBetween(claim, other, windows) !== undefined));
  if (before.length - setbacks.length >= Math.max(repeated, asked)) return UNATTRIBUTED;
  return repeated > 1 ? REPEATED : ASKED_FOR;
}

/** Why the end of one claim led to another one of the same version. */
function causeBetween(earlier: ClaimStory, later: ClaimStory, windows: readonly FaultWindow[]): string | undefined {
  const { end, settle } = earlier;
  if (later.attempt > earlier.attempt && earlier.startedAt > later.startedAt) {
    // Its lease had ended by then. A process checks that right before it starts a handler, and may be frozen between the two.
    const hasTurnedUpLate = earlier.sentAt <= later.startedAt && feltBy(earlier, { until: earlier.startedAt, windows });
    return hasTurnedUpLate ? STARTED_LATE : undefined;
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
    return feltBy(earlier, { until: settle?.at ?? later.startedAt, windows })?.kind;
  }
  return undefined;
}

/**
 * How often a version may have been there, one after the other: a message is offered again if the outcome of its offer is unknown, and
 * its handlers may then ask for it again each time. What was not answered may have been accepted.
 */
function livesOf({ offers, claims }: MessageStory, { version }: ClaimStory) {
  const offered = offers.filter((offer) => offer.version === version);
  const unknown = offered.filter(({ outcome }) => outcome === 'unknown').length;
  const asked = claims.filter(
    ({ end, settle, ...claim }) =>
      claim.version === version - 1 && end?.how === 'again' && settle && settle.result !== 'refused',
  );
  return { repeated: Math.min(offered.length, 1 + unknown), asked: asked.length };
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
