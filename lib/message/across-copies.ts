/** Names the class of an instance for all copies of the package in a process. */
const CLASS = Symbol.for('nestjs-delay-queue:class');

/**
 * Makes `instanceof` recognise the instances that other copies of the package made: a monorepo may have several. It changes nothing for
 * classes that extend the given one.
 *
 * @param name - stable across releases, and another one for each class
 */
export function recognizeAcrossCopies(type: abstract new (...args: never) => object, name: string): void {
  Object.defineProperty(type.prototype, CLASS, { value: name });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this as () => unknown, value);
      return typeof value === 'object' && value !== null && (value as { [CLASS]?: unknown })[CLASS] === name;
    },
  });
}
