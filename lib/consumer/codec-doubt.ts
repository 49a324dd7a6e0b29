import { guessCodec } from '../codec/redisson/codec-signs.js';
import type { Outcome } from '../store/message-flow.js';

/** After so many messages in a row that cannot be read, the codec is at fault rather than the messages. */
const MOST_IN_A_ROW = 10;

/** How long a message waits while the codec is in doubt, ms. */
const PAUSE = 30_000;

/**
 * Tells a wrong codec from a few broken bodies. On a queue that is shared with Java, only the configuration says which codec
 * writes the bodies. With a wrong one, every message would become a dead letter.
 */
export class CodecDoubt {
  /** The ids of those that could not be read since the last one that could. */
  readonly #unread = new Set<string>();
  #hasRead = false;
  #lastBody: Buffer | undefined;

  /** @param codec - its name, for people */
  constructor(private readonly codec: string) {}

  /** Why the queue must not be consumed any more; undefined: no reason to stop. */
  get haltReason(): string | undefined {
    if (!this.#lastBody || !this.#isWrong) return undefined;
    return (
      `${this.#unread.size} messages in a row could not be read with codec ${this.codec}. The last one looks like ` +
      `${guessCodec(this.#lastBody)}. No message is lost. Set the codec that Java uses for the queue, and restart`
    );
  }

  /** A body could be read. */
  read(): void {
    this.#hasRead = true;
    if (this.#unread.size > 0) this.#unread.clear();
  }

  /**
   * A body could not be read.
   *
   * @returns what becomes of its message while the codec may be wrong; undefined: the message itself must be broken
   */
  unread(id: string, body: Buffer): Outcome | undefined {
    const isFirstLook = !this.#unread.has(id);
    this.#unread.add(id);
    this.#lastBody = body;
    return this.#isWrong || (!this.#hasRead && isFirstLook) ? { kind: 'defer', delay: PAUSE } : undefined;
  }

  get #isWrong(): boolean {
    return this.#unread.size >= MOST_IN_A_ROW;
  }
}
