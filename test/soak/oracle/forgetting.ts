import type { FaultWindow } from '../nemesis/fault-window.js';
import type { ClaimStory, MessageStory } from './message-story.js';

/** The cause of starts that happened because Redis forgot what it had acknowledged. */
export const FORGOTTEN = 'forgotten by Redis';

/** When Redis forgot what it had acknowledged; everything offered afterwards must be intact. */
export class Forgetting {
  readonly #windows: readonly FaultWindow[];

  constructor(windows: readonly FaultWindow[]) {
    this.#windows = windows.filter(({ forgets }) => forgets);
  }

  /** Whether the last acknowledged offer of a message may have been forgotten. */
  mayHaveLost({ offers }: MessageStory): boolean {
    const last = offers.findLast(({ outcome }) => outcome === 'ok');
    return last !== undefined && this.#windows.some(({ to }) => last.invokedAt <= to);
  }

  /** Whether a claim may have found the message in an earlier state. */
  mayHaveMisled({ offers }: MessageStory, { startedAt }: ClaimStory): boolean {
    const [first] = offers;
    return !!first && this.#windows.some(({ from, to }) => first.invokedAt <= to && startedAt >= from);
  }
}
