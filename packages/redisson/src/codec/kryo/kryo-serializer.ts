import type { KryoInput } from './kryo-input.js';
import type { KryoOutput } from './kryo-output.js';
import type { ObjectReader } from './kryo-reader.js';
import type { ObjectWriter } from './kryo-writer.js';

/** Reads and writes the objects of one class. */
export type KryoSerializer = ObjectReader & ObjectWriter;

/** A serializer of values without parts. */
export interface Scalar {
  readonly acceptsNull?: boolean;
  readonly write: (output: KryoOutput, value: unknown) => void;
  readonly read: (input: KryoInput) => unknown;
}
