/** The property that names an instance's class to all copies of the package in a process. */
const CLASS = Symbol.for('nestjs-delay-queue:class');

/**
 * Makes `instanceof` recognize instances from other copies of the package, as in a monorepo. Subclasses are not affected.
 * @param name - unique to the class and stable across releases
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
