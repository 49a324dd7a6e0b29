import type { ClaimStory, MessageStory } from '../message-story.js';

/** How far the clocks of a journal and of Redis may be apart, ms: both are rounded. */
const ROUNDING = 1;

/** How much earlier than it expires a message may be removed, ms: by a round trip on the slowest network that the nemesis makes. */
const ROUND_TRIP = 500;

/** How much later a handler may tell of its start on a busy machine than its process has checked the expiry, ms. */
const SLACK = 300;

/**
 * Finds a handler that was started when its message had expired.
 *
 * @returns what is wrong, or null
 */
export function findOverdue(story: MessageStory, { version, sentAt, startedAt }: ClaimStory): string | null {
  const deadline = deadlineOf(story, version);
  if (deadline === null) return null;
  if (sentAt <= deadline + ROUNDING && startedAt <= deadline + SLACK) return null;
  return `expired at ${deadline}, but started at ${startedAt} by a claim that was sent at ${sentAt}`;
}

/** @returns what is wrong if a message was removed as expired before it had expired, or null */
export function findExpiredEarly(story: MessageStory): string | null {
  const deadline = deadlineOf(story, 0);
  const first = Math.min(...story.expiries);
  return deadline !== null && first + ROUND_TRIP < deadline
    ? `removed as expired at ${first}, ${deadline - first} ms before its time`
    : null;
}

/** The time at which a version expires; null if that is not certain, because it may have been offered twice, or if it never does. */
function deadlineOf({ offers }: MessageStory, version: number): number | null {
  const own = offers.filter((offer) => offer.version === version && offer.outcome !== 'failed');
  const [only, ...others] = own;
  if (!only || others.length > 0 || only.due === null || only.expiresAfter === null) return null;
  return only.due + only.expiresAfter;
}
