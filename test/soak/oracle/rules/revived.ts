import { type ClaimStory, type MessageStory, offeringsOf } from '../message-story.js';

/**
 * Finds a claim that was sent after a confirmed change and still found the message as it was before.
 *
 * @returns what is wrong, or null
 */
export function findRevived(story: MessageStory, claim: ClaimStory): string | null {
  const { changes } = story;
  const offers = offeringsOf(story, claim);
  // An unanswered offer may reach Redis at any time and bring the message back.
  if (offers.some(({ outcome, version }) => outcome === 'unknown' && version === claim.version)) return null;
  const cancel = changes.find(({ kind, outcome, endedAt }) => {
    const isOfferedAgain = offers.some(({ version, invokedAt }) => version === claim.version && invokedAt >= endedAt);
    return kind === 'cancel' && outcome === 'done' && endedAt < claim.sentAt && !isOfferedAgain;
  });
  const abort = changes.find(({ kind, outcome, endedAt }) => {
    return kind === 'abort' && outcome === 'done' && endedAt < claim.sentAt;
  });
  if (abort) return `aborted at ${abort.endedAt} but claimed after ${claim.sentAt}`;
  if (cancel) return `cancelled at ${cancel.endedAt} but claimed after ${claim.sentAt}`;
  const replacement = offers.find(({ version, outcome, endedAt }) => {
    return version > claim.version && outcome === 'ok' && endedAt < claim.sentAt;
  });
  return replacement
    ? `replaced at ${replacement.endedAt} but claimed with its old content after ${claim.sentAt}`
    : null;
}
