import { dueSettingsBefore } from '../due-settings.js';
import type { ClaimStory, MessageStory } from '../message-story.js';

/** @returns what is wrong; null: nothing */
export function findCorrupt(story: MessageStory, claim: ClaimStory): string | null {
  const { intact, version, startedAt, due } = claim;
  if (!intact) return 'its content, headers or id differ from what was offered';
  if (!story.offers.some((offer) => offer.version === version && offer.invokedAt <= startedAt)) {
    return `its version ${version} was not offered before it started at ${startedAt}`;
  }
  const [only, ...others] = dueSettingsBefore(story, claim);
  if (only && others.length === 0 && only.due !== null && only.due !== due) {
    return `due at ${due}, but acknowledged as due at ${only.due}`;
  }
  return null;
}
