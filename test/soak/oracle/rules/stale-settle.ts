import type { ClaimStory, MessageStory } from '../message-story.js';

/**
 * Finds an outcome that was accepted although its claim had been superseded: before the settle was sent, another claim's
 * handler had started, or a replacement had been acknowledged.
 *
 * @returns what is wrong, or null
 */
export function findStaleSettle({ claims, offers }: MessageStory, claim: ClaimStory): string | null {
  const { settle, startedAt } = claim;
  if (settle?.result !== 'accepted') return null;
  const successor = claims.find(({ sentAt, startedAt: start }) => sentAt > startedAt && start < settle.sentAt);
  if (successor) {
    return `its ${settle.outcome}, sent at ${settle.sentAt}, was accepted, but another claim had started it at ${successor.startedAt}`;
  }
  const replacement = offers.find(({ version, outcome, invokedAt, endedAt }) => {
    return version > claim.version && outcome === 'ok' && invokedAt > startedAt && endedAt < settle.sentAt;
  });
  return replacement
    ? `its ${settle.outcome}, sent at ${settle.sentAt}, was accepted, but it had been replaced at ${replacement.endedAt}`
    : null;
}
