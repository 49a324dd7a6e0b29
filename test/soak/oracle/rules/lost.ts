import type { MessageStory } from '../message-story.js';

/** @returns what is wrong, or null */
export function findLost(story: MessageStory, isDeadLetter: (n: number) => boolean): string | null {
  const { n, offers, changes, claims } = story;
  const last = offers.findLast(({ outcome }) => outcome === 'ok');
  if (!last) return null;
  const mayBeCancelled = changes.some(({ kind, outcome, invokedAt }) => {
    return kind === 'cancel' && (outcome === 'done' || outcome === 'unknown') && invokedAt > last.invokedAt;
  });
  if (mayBeCancelled) return null;

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
