import type { JavaType } from '../java/java-type.js';

/** Deeper than any real payload, and well within the stack. */
export const MAX_DEPTH = 500;

/**
 * The current type arguments. Kryo does not write the class of an element if the field's declaration makes it a final one. This follows
 * Kryo's `DefaultGenerics` step by step, because its rules for nested collections show in the bytes.
 */
export class Generics {
  readonly #types: JavaType[] = [];
  readonly #depths: number[] = [];
  /** The nesting depth of the current object. */
  depth = 0;

  push(type: JavaType): void {
    this.#types.push(type);
    this.#depths.push(this.depth);
  }

  /** Removes the last type, unless an outer object has pushed it. */
  pop(): void {
    if (this.#types.length === 0 || this.#depths.at(-1)! < this.depth) return;
    this.#types.pop();
    this.#depths.pop();
  }

  /** Returns the type arguments of the current object. If there are any, the last one is pushed. */
  next(): readonly JavaType[] | undefined {
    const args = this.#types.at(-1)?.arguments;
    if (args === undefined || this.#depths.at(-1) !== this.depth - 1) return undefined;
    this.push(args.at(-1)!);
    return args;
  }
}
