import { type JavaType, OBJECT } from '../java/java-type.js';
import { JavaValue } from '../java/java-value.js';
import { finalArgument, readNaturalOrder, refuseMixedOrder, writeNaturalOrder } from './container-parts.js';
import { classFor, elementsOf, shownAs } from './forms.js';
import { UnwritableValue } from './kryo-failures.js';
import type { KryoReader, ReadObject } from './kryo-reader.js';
import type { KryoSerializer } from './kryo-serializer.js';
import type { KryoWriter } from './kryo-writer.js';
import { type HiddenClass, originOf, remember } from './origins.js';
import type { ContainerRules } from './platform-containers.js';

/** The elements to write, each with its class; null for null. */
interface Elements {
  readonly elements: readonly unknown[];
  readonly classes: readonly (string | null)[];
  readonly type: JavaType;
}

type ReadElement = ReadObject | null;

/**
 * Kryo's `CollectionSerializer` and its relatives. If the declaration names the final class of the elements, Kryo writes no class. If all
 * are of one class, it writes that once, otherwise the class of each.
 */
export class CollectionSerializer implements KryoSerializer {
  readonly acceptsNull: boolean;

  constructor(
    private readonly name: string,
    private readonly rules: ContainerRules,
  ) {
    this.acceptsNull = rules.size === undefined;
  }

  write(writer: KryoWriter, value: unknown, declared?: JavaType): void {
    const { output, generics } = writer;
    if (value === null) return output.byte(0);
    const all = this.#elements(writer, value, declared?.arguments?.[0] ?? OBJECT);
    if (this.rules.size !== undefined) return writeEach(writer, all);
    if (all.elements.length === 0) {
      output.byte(1);
      return writeNaturalOrder(writer, this.rules);
    }
    const final = finalArgument(writer.model, generics.next()?.[0]);
    if (final === undefined) this.#writeOpen(writer, all);
    else this.#writeFinal(writer, all, final);
    generics.pop();
  }

  read(reader: KryoReader, declared?: JavaType): unknown {
    const type = declared?.arguments?.[0] ?? OBJECT;
    const { size } = this.rules;
    if (size !== undefined) return this.#shown(reader, size === 0 ? [] : [reader.classAndObject(type)], type);
    const final = finalArgument(reader.model, reader.generics.next()?.[0]);
    const read = final === undefined ? this.#readOpen(reader, type) : this.#readFinal(reader, final);
    reader.generics.pop();
    return read && this.#shown(reader, read, type);
  }

  #elements(writer: KryoWriter, value: unknown, type: JavaType): Elements {
    const elements = elementsOf(value, `a ${this.name}`);
    const hidden = originOf(value)?.hidden;
    const classes = elements.map((element, i) => {
      if (element === null) return null;
      writer.path.push(i);
      const name = classFor(writer, element, { type, hidden: hidden?.get(i) });
      writer.path.pop();
      return name;
    });
    if (this.rules.refusesNull === true && classes.includes(null)) {
      throw new UnwritableValue(`a ${this.name} cannot contain null`);
    }
    if (this.rules.isSorted === true) refuseMixedOrder(writer.model, classes);
    if (this.rules.refusesTwins === true) refuseTwins(elements, classes);
    return { elements, classes, type };
  }

  #writeFinal(writer: KryoWriter, { elements }: Elements, type: JavaType): void {
    const hasNull = elements.includes(null);
    if (this.rules.isImmutable === true) writer.output.varInt(elements.length + 1);
    else writer.output.flaggedInt(hasNull, elements.length + 1);
    writeNaturalOrder(writer, this.rules);
    writeSame(writer, elements, { name: type.name, type, hasNull });
  }

  #writeOpen(writer: KryoWriter, all: Elements): void {
    const present = new Set(all.classes);
    const hasNull = present.delete(null);
    const isSame = present.size <= 1;
    writer.output.flaggedInt(isSame, all.elements.length + 1);
    writeNaturalOrder(writer, this.rules);
    if (!isSame) return writeEach(writer, all);
    const [name] = present;
    writer.className(name ?? null);
    if (name === undefined || name === null) return;
    if (this.rules.isImmutable !== true) writer.output.boolean(hasNull);
    writeSame(writer, all.elements, { name, type: all.type, hasNull });
  }

  #readFinal(reader: KryoReader, type: JavaType): ReadElement[] | null {
    const { input } = reader;
    const isImmutable = this.rules.isImmutable === true;
    const hasNull = !isImmutable && input.hasFlag;
    const plusOne = isImmutable ? input.varInt() : input.flaggedInt();
    if (plusOne === 0) return null;
    const length = input.length(plusOne);
    readNaturalOrder(reader, this.rules);
    return readSame(reader, length, { name: type.name, type, hasNull });
  }

  #readOpen(reader: KryoReader, type: JavaType): ReadElement[] | null {
    const { input } = reader;
    const isSame = input.hasFlag;
    const plusOne = input.flaggedInt();
    if (plusOne === 0) return null;
    const length = input.length(plusOne);
    readNaturalOrder(reader, this.rules);
    if (length === 0) return [];
    if (!isSame) return Array.from({ length }, () => reader.classAndObject(type));
    const name = reader.className();
    if (name === null) return Array.from({ length }, () => null);
    const hasNull = this.rules.isImmutable !== true && input.boolean();
    return readSame(reader, length, { name, type, hasNull });
  }

  #shown(reader: KryoReader, read: readonly ReadElement[], type: JavaType): unknown[] {
    const hiddenClasses = new Map<number, HiddenClass>();
    const elements = read.map((element, i) => {
      if (element === null) return null;
      const { value, hidden } = shownAs(reader.model, type, element);
      if (hidden !== undefined) hiddenClasses.set(i, hidden);
      return value;
    });
    remember(elements, { type: this.name, hidden: hiddenClasses });
    return elements;
  }
}

/** How elements of one class are written. */
interface Same {
  readonly name: string;
  /** Their declared type. */
  readonly type: JavaType;
  readonly hasNull: boolean;
}

function writeSame(writer: KryoWriter, elements: readonly unknown[], { name, type, hasNull }: Same): void {
  const serializer = writer.serializerOf(name);
  elements.forEach((element, i) => {
    writer.path.push(i);
    if (hasNull) writer.objectOrNull(element, serializer, type);
    else writer.object(element, serializer, type);
    writer.path.pop();
  });
}

function writeEach(writer: KryoWriter, { elements, classes, type }: Elements): void {
  elements.forEach((element, i) => {
    writer.path.push(i);
    writer.classAndObject(element, classes[i]!, type);
    writer.path.pop();
  });
}

function readSame(reader: KryoReader, length: number, { name, type, hasNull }: Same): ReadElement[] {
  const serializer = reader.fitting(name, type);
  return Array.from({ length }, () => {
    const value = hasNull ? reader.objectOrNull(serializer, type) : reader.object(serializer, type);
    return value === null ? null : { type: name, value };
  });
}

/** Throws if a value occurs twice, because `Set.of` does. Objects of an application are equal only if it says so. */
function refuseTwins(elements: readonly unknown[], classes: readonly (string | null)[]): void {
  const seen = new Map<string | null, Set<unknown>>();
  elements.forEach((element, i) => {
    const value = element instanceof JavaValue ? element.toString() : element;
    if (typeof value === 'object') return;
    const ofClass = seen.get(classes[i]!) ?? new Set();
    if (ofClass.has(value)) throw new UnwritableValue('an immutable set cannot contain a value twice');
    seen.set(classes[i]!, ofClass.add(value));
  });
}
