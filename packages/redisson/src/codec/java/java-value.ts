import { recognizeAcrossCopies } from 'nestjs-delay-queue/layouts';

/**
 * A Java value that has no form of its own in JavaScript, such as a UUID or a Float, in a place whose type Java does not declare: the whole
 * payload, or an element of a `List<Object>`. It arrives as one of these, and can be offered as one.
 * @example
 * ```ts
 * await producer.offer('orders', { id: new JavaValue('java.util.UUID', '01234567-89ab-cdef-0123-456789abcdef') }, '30m');
 * ```
 */
export class JavaValue {
  /**
   * @param type - the full name of the Java class
   * @param value - the value, in the form that a field of this type has
   */
  constructor(
    /** The full name of the Java class, such as `java.util.UUID`. */
    readonly type: string,
    /** The value, in the form that a field of this type has: text for a UUID, a number for a Float. */
    readonly value: unknown,
  ) {}

  /** The value as text. */
  toString(): string {
    return String(this.value);
  }

  /** The value without its type. */
  toJSON(): unknown {
    return typeof this.value === 'bigint' ? String(this.value) : this.value;
  }
}

recognizeAcrossCopies(JavaValue, 'JavaValue');
