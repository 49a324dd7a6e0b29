import { isOfFollower, mayOvertake, type MessageStory, type Offering } from '../message-story.js';

export interface Lost {
  /** The acknowledged offer that came to no end. */
  readonly offer: Offering;
  readonly problem: string;
}

/** @returns what is wrong with the message, and what is wrong with its follower */
export function findLost(story: MessageStory, isDeadLetter: (n: number) => boolean): Lost[] {
  const followers = story.offers.filter(({ how }) => how === 'follow');
  const others = story.offers.filter(({ how }) => how !== 'follow');
  return [others, followers].flatMap((offers) => findLostOf(story, offers, isDeadLetter) ?? []);
}

/** Of the versions of a message, or of those of its follower, the last one must have an end. */
function findLostOf(
  story: MessageStory,
  offers: readonly Offering[],
  isDeadLetter: (n: number) => boolean,
): Lost | null {
  const { n, changes, expiries } = story;
  const claims = story.claims.filter(({ version }) => isOfFollower(story, version) === (offers[0]?.how === 'follow'));
  const last = offers.findLast(({ outcome }) => outcome === 'ok');
  if (!last) return null;
  const mayBeRemoved = changes.some((change) => {
    if (change.kind === 'reschedule') return false;
    if (change.invokedAt > last.invokedAt) return change.outcome === 'done' || change.outcome === 'unknown';
    return mayOvertake(change, last);
  });
  if (mayBeRemoved || (last.expiresAfter !== null && expiries.length > 0)) return null;

  const mayCount = offers
    // An older offer that was given up must not replace the last one, once its time is over.
    .filter((offer) => {
      return (
        offer === last || (offer.outcome === 'unknown' && (offer.version >= last.version || mayOvertake(offer, last)))
      );
    })
    .map(({ version }) => version);
  // A message that came again with other content has the next version.
  for (const { version, end } of claims)
    if (end?.how === 'again' && mayCount.includes(version)) mayCount.push(version + 1);
  const ends = claims.filter(({ version }) => mayCount.includes(version)).flatMap(({ end }) => (end ? [end.how] : []));
  if (ends.includes('handled')) return null;
  if (ends.includes('rejected')) {
    return isDeadLetter(n) ? null : { offer: last, problem: 'rejected by its handler but not among the dead letters' };
  }
  const starts = claims.length === 0 ? 'never started' : `started ${claims.length} times, never handled`;
  return { offer: last, problem: `acknowledged at ${last.endedAt} as due at ${last.due}, ${starts}` };
}
