import { NO_TYPE } from '../message-type.js';

/** Those of a message that was set aside, and of one with a type: see `native-codec.ts`. */
const FIRST_LINES = /^(?:W\d+\n)*[KCkc]([A-Za-z0-9_.:-]{1,64})\n/;

/** Longer than any of these lines. */
const LONGEST = 200;

/**
 * Reads the type from a body of the native codec, without decoding the rest. A body in another form, be it damaged or that of a
 * later version, has no type. `count-types.lua` does the same.
 */
export function bodyType(body: Buffer): string {
  return FIRST_LINES.exec(body.toString('latin1', 0, LONGEST))?.[1] ?? NO_TYPE;
}
