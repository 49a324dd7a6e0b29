import type { StoredMessage } from '../store/admin-store.js';

/** How many messages one read examines: few, because the server does nothing else meanwhile. */
export const PART = 500;

/** A call reads no further part once it has examined so many messages, or so many bytes of them. */
const MAX_EXAMINED = 5000;
const MAX_BYTES = 4 * 1024 * 1024;

/** What a walk through messages has examined so far. */
export class Examined {
  #count = 0;
  #bytes = 0;
  readonly #missing = new Set<number>();

  /** @param missing - partitions that did not answer */
  add(messages: readonly StoredMessage[], missing: readonly number[] = []): void {
    this.#count += messages.length;
    for (const { body } of messages) this.#bytes += body.length;
    for (const partition of missing) this.#missing.add(partition);
  }

  get count(): number {
    return this.#count;
  }

  /** True if a single call should examine no more. */
  get isEnough(): boolean {
    return this.#count >= MAX_EXAMINED || this.#bytes >= MAX_BYTES;
  }

  get missing(): { readonly missing?: readonly number[] } {
    if (this.#missing.size === 0) return {};
    return { missing: [...this.#missing].sort((one, other) => one - other) };
  }
}
