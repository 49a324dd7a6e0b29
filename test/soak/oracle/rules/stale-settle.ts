import type { ClaimStory, MessageStory } from '../message-story.js';

/**
 * An outcome that counted although its claim had been superseded: another claim's handler had started, or a replacement
 * had been acknowledged, before the settle was even sent.
 *
 * @returns what is wrong; null: nothing
 */
export function findStaleSettle({ claims, offers }: MessageStory, claim: ClaimStory): string | null {
  const { settle, startedAt } = claim;
  if (settle?.result !== 'accepted') return null;
  const successor = claims.find(({ sentAt, startedAt: start }) => sentAt > startedAt && start < settle.sentAt);
  if (successor) {
    return `its ${settle.outcome}, sent at ${settle.sentAt}, counted, but another claim had started it at ${successor.startedAt}`;
  }
  const replacement = offers.find(({ version, outcome, invokedAt, endedAt }) => {
    return version > claim.version && outcome === 'ok' && invokedAt > startedAt && endedAt < settle.sentAt;
  });
  return replacement
    ? `its ${settle.outcome}, sent at ${settle.sentAt}, counted, but it had been replaced at ${replacement.endedAt}`
    : null;
}
