import { dueSettingsBefore } from '../due-settings.js';
import type { ClaimStory, MessageStory } from '../message-story.js';

/** @returns what is wrong, or null */
export function findEarly(story: MessageStory, claim: ClaimStory): string | null {
  const { startedAt, due } = claim;
  if (startedAt < due) return `started ${due - startedAt} ms before it was due at ${due}`;
  const settings = dueSettingsBefore(story, claim);
  const earliest = Math.min(...settings.map(({ invokedAt, delay }) => invokedAt + delay));
  if (due < earliest) return `due at ${due}, ${earliest - due} ms before any offer, change or retry allowed`;
  return null;
}
