import type { MessageStory } from '../message-story.js';

/**
 * Says whether an acknowledged message that is gone may have been removed by an older call that its producer had given up.
 * Once a later call is acknowledged, an older one must not take effect.
 *
 * @returns what is wrong, or null if there was no such call
 */
export function findUndone({ offers, changes }: MessageStory): string | null {
  const last = offers.findLast(({ outcome }) => outcome === 'ok');
  if (!last) return null;
  const cancel = changes.find(({ kind, outcome, invokedAt }) => {
    return kind === 'cancel' && outcome === 'unknown' && invokedAt < last.invokedAt;
  });
  const what = `offered at ${last.invokedAt}, acknowledged at ${last.endedAt} as due at ${last.due}, and removed`;
  if (cancel) return `${what}; a cancel at ${cancel.invokedAt} was never answered`;
  const offer = offers.find(({ version, outcome }) => outcome === 'unknown' && version > 0 && version < last.version);
  return offer ? `${what}; a replacement at ${offer.invokedAt} was never answered` : null;
}
