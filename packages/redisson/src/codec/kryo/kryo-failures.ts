/** Bytes that Kryo does not write. */
export class MalformedBytes extends Error {}

/** Bytes of Kryo that this codec cannot read, and why. */
export class UnreadableValue extends Error {}

/** A value that this codec cannot write, and why. */
export class UnwritableValue extends Error {}
