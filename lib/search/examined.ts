import type { StoredMessage } from '../store/admin-store.js';

/** How many messages one read examines: few, because the server does nothing else meanwhile. */
export const PART = 400;

/** A call reads no further part once it has examined so many messages, or so many bytes of them. */
const MAX_EXAMINED = 4000;
const MAX_BYTES = 4 * 1024 * 1024;

interface ExaminedPart {
  readonly examined: readonly StoredMessage[];
  /** How many of them could not be searched, because they are encrypted. */
  readonly encrypted?: number;
  /** Partitions that did not answer. */
  readonly missing?: readonly number[] | undefined;
}

/** What a walk through messages has examined so far. */
export class Examined {
  #count = 0;
  #bytes = 0;
  #encrypted = 0;
  readonly #missing = new Set<number>();

  add({ examined, encrypted = 0, missing = [] }: ExaminedPart): void {
    this.#count += examined.length;
    this.#encrypted += encrypted;
    for (const { body } of examined) this.#bytes += body.length;
    for (const partition of missing) this.#missing.add(partition);
  }

  get count(): number {
    return this.#count;
  }

  /** True if a single call should examine no more. */
  get isEnough(): boolean {
    return this.#count >= MAX_EXAMINED || this.#bytes >= MAX_BYTES;
  }

  get isComplete(): boolean {
    return this.#missing.size === 0;
  }

  /** What the result must say if it is so. */
  get notes(): { readonly missing?: readonly number[]; readonly encrypted?: number } {
    return {
      ...(this.#missing.size > 0 && { missing: [...this.#missing].sort((one, other) => one - other) }),
      ...(this.#encrypted > 0 && { encrypted: this.#encrypted }),
    };
  }
}
