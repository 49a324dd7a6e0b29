import type { FaultWindow } from '../nemesis/fault-window.js';
import type { ClaimStory, MessageStory } from './message-story.js';

/** The cause of what Redis did when it no longer knew what it had acknowledged. */
export const FORGOTTEN = 'forgotten by Redis';

/** When Redis forgot what it had acknowledged; what was offered afterwards must be whole. */
export class Forgetting {
  readonly #windows: readonly FaultWindow[];

  constructor(windows: readonly FaultWindow[]) {
    this.#windows = windows.filter(({ forgets }) => forgets);
  }

  /** Whether the last acknowledged offer of a message may be among what was forgotten. */
  mayHaveLost({ offers }: MessageStory): boolean {
    const last = offers.findLast(({ outcome }) => outcome === 'ok');
    return last !== undefined && this.#windows.some(({ to }) => last.invokedAt <= to);
  }

  /** Whether a claim may have found a message in a state in which it had been before. */
  mayHaveMisled({ offers }: MessageStory, { startedAt }: ClaimStory): boolean {
    const [first] = offers;
    return !!first && this.#windows.some(({ from, to }) => first.invokedAt <= to && startedAt >= from);
  }
}
