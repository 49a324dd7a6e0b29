import { isOfFollower, type MessageStory, type Offering } from '../message-story.js';

/** @returns what is wrong, or null */
export function findLost(story: MessageStory, isDeadLetter: (n: number) => boolean): string | null {
  const followers = story.offers.filter(({ how }) => how === 'follow');
  const others = story.offers.filter(({ how }) => how !== 'follow');
  return findLostOf(story, others, isDeadLetter) ?? findLostOf(story, followers, isDeadLetter);
}

/** Of the versions of a message, or of those of its follower, the last one must have an end. */
function findLostOf(
  story: MessageStory,
  offers: readonly Offering[],
  isDeadLetter: (n: number) => boolean,
): string | null {
  const { n, changes, expiries } = story;
  const claims = story.claims.filter(({ version }) => isOfFollower(story, version) === (offers[0]?.how === 'follow'));
  const last = offers.findLast(({ outcome }) => outcome === 'ok');
  if (!last) return null;
  const mayBeRemoved = changes.some(({ kind, outcome, invokedAt }) => {
    return kind !== 'reschedule' && (outcome === 'done' || outcome === 'unknown') && invokedAt > last.invokedAt;
  });
  if (mayBeRemoved || (last.expiresAfter !== null && expiries.length > 0)) return null;

  const mayCount = offers
    // An older offer that was given up must not replace the last one.
    .filter((offer) => offer === last || (offer.outcome === 'unknown' && offer.version >= last.version))
    .map(({ version }) => version);
  // A message that came again with other content has the next version.
  for (const { version, end } of claims)
    if (end?.how === 'again' && mayCount.includes(version)) mayCount.push(version + 1);
  const ends = claims.filter(({ version }) => mayCount.includes(version)).flatMap(({ end }) => (end ? [end.how] : []));
  if (ends.includes('handled')) return null;
  if (ends.includes('rejected')) {
    return isDeadLetter(n) ? null : 'rejected by its handler but not among the dead letters';
  }
  const starts = claims.length === 0 ? 'never started' : `started ${claims.length} times, never handled`;
  return `acknowledged at ${last.endedAt} as due at ${last.due}, ${starts}`;
}
