import { type ChangeAttempt, mayOvertake, type MessageStory, type Offering } from '../message-story.js';

/**
 * Says whether an acknowledged message that is gone may have been removed by an older call that its producer had given up.
 * Once a later call is acknowledged, an older one must not take effect, unless the later one was made before the older one's time was over.
 *
 * @returns what is wrong, or null if there was no such call
 */
export function findUndone({ offers, changes }: MessageStory): string | null {
  const last = offers.findLast(({ outcome }) => outcome === 'ok');
  if (!last) return null;
  const cancel = changes.find((change) => {
    return change.kind === 'cancel' && isOver(change, last);
  });
  const what = `offered at ${last.invokedAt}, acknowledged at ${last.endedAt} as due at ${last.due}, and removed`;
  if (cancel) return `${what}; a cancel at ${cancel.invokedAt} was never answered`;
  const offer = offers.find((each) => each.version > 0 && each.version < last.version && isOver(each, last));
  return offer ? `${what}; a replacement at ${offer.invokedAt} was never answered` : null;
}

/** True if a call was never answered, and had no time left when a later one was made. */
function isOver(call: Offering | ChangeAttempt, later: Offering): boolean {
  return call.outcome === 'unknown' && call.invokedAt < later.invokedAt && !mayOvertake(call, later);
}
