import { dueSettingsBefore } from '../due-settings.js';
import type { ClaimStory, MessageStory } from '../message-story.js';

/** @returns what is wrong with the content of a message, or null */
export function findDamaged(_story: MessageStory, { intact }: ClaimStory): string | null {
  return intact ? null : 'its content, headers or id differ from what was offered';
}

/** @returns what is wrong, or null */
export function findCorrupt(story: MessageStory, claim: ClaimStory): string | null {
  const { version, startedAt, due } = claim;
  const damage = findDamaged(story, claim);
  if (damage !== null) return damage;
  const isOffered = story.offers.some((offer) => offer.version === version && offer.invokedAt <= startedAt);
  const cameAgain = story.claims.some(({ end, version: before }) => {
    return end?.how === 'again' && before === version - 1 && end.at <= startedAt;
  });
  if (!isOffered && !cameAgain) {
    return `its version ${version} was not offered before it started at ${startedAt}`;
  }
  const [only, ...others] = dueSettingsBefore(story, claim);
  if (only && others.length === 0 && only.due !== null && only.due !== due) {
    return `due at ${due}, but acknowledged as due at ${only.due}`;
  }
  return null;
}
