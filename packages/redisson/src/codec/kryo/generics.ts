import type { JavaType } from '../java/java-type.js';

/** Deeper than any honest payload, and well within the stack. */
export const MAX_DEPTH = 500;

/**
 * Which type arguments are in force: Kryo does not write the class of an element if the field's declaration says that it is a final one.
 * This follows Kryo's `DefaultGenerics` step by step, because its rules for nested collections show in the bytes.
 */
export class Generics {
  readonly #types: JavaType[] = [];
  readonly #depths: number[] = [];
  /** How deep the object at hand is in others. */
  depth = 0;

  push(type: JavaType): void {
    this.#types.push(type);
    this.#depths.push(this.depth);
  }

  /** Takes off the last type, unless an outer object has pushed it. */
  pop(): void {
    if (this.#types.length === 0 || this.#depths.at(-1)! < this.depth) return;
    this.#types.pop();
    this.#depths.pop();
  }

  /** The type arguments of the object at hand. If there are any, the last one is pushed. */
  next(): readonly JavaType[] | undefined {
    const args = this.#types.at(-1)?.arguments;
    if (args === undefined || this.#depths.at(-1) !== this.depth - 1) return undefined;
    this.push(args.at(-1)!);
    return args;
  }
}
