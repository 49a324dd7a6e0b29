import { type ClaimStory, isOfFollower, type MessageStory, offeringsOf, type Settle } from '../message-story.js';

/**
 * Finds an outcome that was accepted although its claim had been superseded: before the settle was sent, another claim's
 * handler had started, or a replacement had been acknowledged. Or the message was removed or changed by its producer, who won,
 * and by its handler, who must not win as well.
 *
 * @returns what is wrong, or null
 */
export function findStaleSettle(story: MessageStory, claim: ClaimStory): string | null {
  const { settle, startedAt } = claim;
  if (settle?.result !== 'accepted') return null;
  const offers = offeringsOf(story, claim);
  const isFollower = isOfFollower(story, claim.version);
  const successor = story.claims.find(({ version, sentAt, startedAt: start }) => {
    return isOfFollower(story, version) === isFollower && sentAt > startedAt && start < settle.sentAt;
  });
  if (successor) {
    return `its ${settle.outcome}, sent at ${settle.sentAt}, was accepted, but another claim had started it at ${successor.startedAt}`;
  }
  // One that follows a follower waits beside it.
  const replacement = offers.find(({ version, outcome, how, invokedAt, endedAt }) => {
    const isSettled = outcome === 'ok' && invokedAt > startedAt && endedAt < settle.sentAt;
    return isSettled && version > claim.version && how !== 'follow';
  });
  if (replacement) {
    return `its ${settle.outcome}, sent at ${settle.sentAt}, was accepted, but it had been replaced at ${replacement.endedAt}`;
  }
  return findTwoWinners(story, claim, settle);
}

/** An offer of unknown outcome may have been carried out late, and then each of the two had a message of its own. */
function findTwoWinners({ offers, changes }: MessageStory, { version }: ClaimStory, { outcome, at }: Settle) {
  const isGone = outcome === 'ack' || outcome === 'dead';
  if (!isGone || offers.some((offer) => offer.outcome === 'unknown')) return null;
  const abort = changes.find((change) => change.kind === 'abort' && change.outcome === 'done');
  if (abort) return `its ${outcome} was accepted at ${at}, but it had been aborted at ${abort.endedAt} as well`;
  const change = offers.find((offer) => offer.how === 'change' && offer.outcome === 'ok' && offer.version > version);
  return change ? `its ${outcome} was accepted at ${at}, but it had been changed at ${change.endedAt} as well` : null;
}
