import type { FaultWindow } from '../../nemesis/fault-window.js';
import { LEASE } from '../../workload/message-plan.js';
import type { ClaimStory, Holding, MessageStory } from '../message-story.js';

/** How long after its lease a message may wait to be taken back, ms. */
const PATIENCE = 4000;

export interface Bystanders {
  /** The time at which a process is last known to have been alive. */
  readonly lastSignOf: (process: number) => number;
  readonly windows: readonly FaultWindow[];
}

/**
 * Finds a message that a claim held while nobody handled it, for longer than it takes a lease to end: somebody extended the
 * lease without knowing of the message, or without handling it.
 *
 * @returns what is wrong, or null
 */
export function findHostage(story: MessageStory, holding: Holding, { lastSignOf, windows }: Bystanders): string | null {
  const inHands = story.claims.map((claim) => [claim.sentAt, handsOffAt(claim, lastSignOf)] as const);
  // Nobody can take anything back from a server that does not answer.
  const outages = windows.filter(({ processes }) => processes === 'all').map(({ from, to }) => [from, to] as const);
  const excused = [...inHands, ...outages].sort(([a], [b]) => a - b);
  let idleFrom = holding.from;
  for (const [from, to] of [...excused, [holding.to, holding.to] as const]) {
    const idle = Math.min(from, holding.to) - idleFrom;
    if (idle > LEASE + PATIENCE) {
      return `held by a claim from ${idleFrom} to ${idleFrom + idle}, while nobody handled it`;
    }
    idleFrom = Math.max(idleFrom, to);
  }
  return null;
}

/** The time at which a claim's process was done with the message. */
function handsOffAt({ process, end, settle }: ClaimStory, lastSignOf: Bystanders['lastSignOf']): number {
  return settle?.at ?? end?.at ?? lastSignOf(process);
}
