import { type ClassModel, isFinal } from '../java/class-model.js';
import type { JavaType } from '../java/java-type.js';
import { NULL_CLASS } from './class-ids.js';
import { UnreadableValue, UnwritableValue } from './kryo-failures.js';
import type { KryoReader } from './kryo-reader.js';
import type { KryoWriter } from './kryo-writer.js';
import type { ContainerRules } from './platform-containers.js';
import { isAssignable } from './platform-types.js';

const COMPARABLE: JavaType = { name: 'java.lang.Comparable' };

/** Returns a type argument whose class Kryo does not write, because it is final; otherwise undefined. */
export function finalArgument(model: ClassModel, argument: JavaType | undefined): JavaType | undefined {
  return argument !== undefined && isFinal(model, argument) ? argument : undefined;
}

/** Writes the comparator of a sorted collection: none. */
export function writeNaturalOrder(writer: KryoWriter, { isSorted }: ContainerRules): void {
  if (isSorted === true) writer.className(null);
}

export function readNaturalOrder(reader: KryoReader, { isSorted }: ContainerRules): void {
  if (isSorted === true && reader.input.varInt() !== NULL_CLASS) {
    throw new UnreadableValue('a sorted collection with its own comparator cannot be read');
  }
}

/** Refuses elements that Java cannot compare and so not sort. */
export function refuseMixedOrder(model: ClassModel, classes: readonly (string | null)[]): void {
  const present = new Set(classes);
  const isOrdered = [...present].every((name) => name !== null && isAssignable(model, COMPARABLE, name));
  if (present.size > 1 || !isOrdered) {
    throw new UnwritableValue('a sorted collection takes values of one class that Java can compare');
  }
}
