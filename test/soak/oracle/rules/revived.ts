import type { ClaimStory, MessageStory } from '../message-story.js';

/**
 * A claim that was sent after a change had been confirmed cannot find what was there before.
 *
 * @returns what is wrong; null: nothing
 */
export function findRevived({ offers, changes }: MessageStory, claim: ClaimStory): string | null {
  // An offer without an answer may reach Redis at any time, and put the message back.
  if (offers.some(({ outcome, version }) => outcome === 'unknown' && version === claim.version)) return null;
  const cancel = changes.find(({ kind, outcome, endedAt }) => {
    const isOfferedAgain = offers.some(({ version, invokedAt }) => version === claim.version && invokedAt >= endedAt);
    return kind === 'cancel' && outcome === 'done' && endedAt < claim.sentAt && !isOfferedAgain;
  });
  if (cancel) return `cancelled at ${cancel.endedAt}, and claimed after ${claim.sentAt}`;
  const replacement = offers.find(({ version, outcome, endedAt }) => {
    return version > claim.version && outcome === 'ok' && endedAt < claim.sentAt;
  });
  return replacement ? `replaced at ${replacement.endedAt}, and claimed as it was after ${claim.sentAt}` : null;
}
