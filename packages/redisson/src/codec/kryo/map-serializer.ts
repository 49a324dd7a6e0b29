import { CLASS } from '../java/java-classes.js';
import type { ClassModel } from '../java/class-model.js';
import { type JavaType, OBJECT } from '../java/java-type.js';
import { finalArgument, readNaturalOrder, refuseMixedOrder, writeNaturalOrder } from './container-parts.js';
import { classFor, dataOf, propertiesOf, shownAs } from './forms.js';
import { UnreadableValue, UnwritableValue } from './kryo-failures.js';
import type { KryoReader, ReadObject } from './kryo-reader.js';
import type { KryoSerializer } from './kryo-serializer.js';
import type { KryoWriter } from './kryo-writer.js';
import { enumOf, implementationOf, isOpen } from './platform-types.js';
import { type HiddenClass, originOf, remember } from './origins.js';
import type { ContainerRules } from './platform-containers.js';

/** Classes whose keys, like those of enums, can be made again from their text. */
const KEYS: ReadonlySet<string> = new Set(
  (
    'java.lang.String java.lang.Integer java.lang.Long java.lang.Short java.lang.Byte java.lang.Character ' +
    'java.math.BigInteger java.util.UUID java.time.LocalDate'
  ).split(' '),
);
const STRING = 'java.lang.String';

interface Entry {
  readonly key: string;
  readonly keyClass: string;
  readonly value: unknown;
  readonly valueClass: string | null;
}

interface ReadEntry {
  readonly key: ReadObject;
  readonly value: ReadObject | null;
}

/** The declared types of the keys and values, and the final ones, for which Kryo writes no classes. */
interface EntryTypes {
  readonly key: JavaType;
  readonly value: JavaType;
  readonly finalKey: JavaType | undefined;
  readonly finalValue: JavaType | undefined;
  readonly generic: readonly JavaType[] | undefined;
}

/** Kryo's `MapSerializer` and its relatives. */
export class MapSerializer implements KryoSerializer {
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
    const entries = this.#entries(writer, value, declared);
    if (this.rules.size !== undefined) return this.#writeBare(writer, entries);
    output.varInt(entries.length + 1);
    writeNaturalOrder(writer, this.rules);
    if (entries.length === 0) return;
    const types = typesOf(writer, declared);
    for (const entry of entries) {
      writer.path.push(entry.key);
      this.#writeEntry(writer, entry, types);
      writer.path.pop();
    }
    generics.pop();
  }

  read(reader: KryoReader, declared?: JavaType): unknown {
    const { input, generics } = reader;
    const { size } = this.rules;
    const type = { name: this.name, value: declared?.arguments?.[1] ?? OBJECT };
    if (size !== undefined) return shown(reader, type, size === 0 ? [] : [readBare(reader, declared)]);
    const plusOne = input.varInt();
    if (plusOne === 0) return null;
    const length = input.length(plusOne);
    readNaturalOrder(reader, this.rules);
    if (length === 0) return shown(reader, type, []);
    const types = typesOf(reader, declared);
    const entries = Array.from({ length }, () => this.#readEntry(reader, types));
    generics.pop();
    return shown(reader, type, entries);
  }

  #entries(writer: KryoWriter, value: unknown, declared: JavaType | undefined): Entry[] {
    const origin = originOf(value);
    const properties = propertiesOf(value);
    const [keyType = OBJECT, valueType = OBJECT] = declared?.arguments ?? [];
    const entries = keysOf(properties, origin?.keys).flatMap((key) => {
      const data = dataOf(properties[key]);
      if (data === undefined) return [];
      writer.path.push(key);
      const keyClass = keyClassOf(writer, keyType, origin?.keys?.get(key));
      const place = { type: valueType, hidden: origin?.hidden?.get(key) };
      const valueClass = data === null ? null : classFor(writer, data, place);
      writer.path.pop();
      return [{ key, keyClass, value: data, valueClass }];
    });
    this.#check(writer, entries);
    return entries;
  }

  #check(writer: KryoWriter, entries: readonly Entry[]): void {
    const { refusesNull, isSorted } = this.rules;
    if (refusesNull === true && entries.some(({ value }) => value === null)) {
      throw new UnwritableValue(`a ${this.name} cannot contain null`);
    }
    const keyClasses = entries.map(({ keyClass }) => keyClass);
    if (isSorted === true && entries.length > 0) refuseMixedOrder(writer.model, keyClasses);
  }

  #writeEntry(writer: KryoWriter, { key, keyClass, value, valueClass }: Entry, types: EntryTypes): void {
    const { generics } = writer;
    const hasFlags = this.rules.isImmutable !== true;
    if (types.generic !== undefined) generics.push(types.generic[0]!);
    if (types.finalKey === undefined) writer.classAndObject(key, keyClass, types.key);
    else if (hasFlags) writer.objectOrNull(key, writer.serializerOf(keyClass), types.key);
    else writer.object(key, writer.serializerOf(keyClass), types.key);
    if (types.generic !== undefined) generics.pop();
    if (types.finalValue === undefined) return writer.classAndObject(value, valueClass, types.value);
    const serializer = writer.serializerOf(types.finalValue.name);
    if (hasFlags) writer.objectOrNull(value, serializer, types.value);
    else writer.object(value, serializer, types.value);
  }

  #writeBare(writer: KryoWriter, entries: readonly Entry[]): void {
    for (const { key, keyClass, value, valueClass } of entries) {
      writer.classAndObject(key, keyClass);
      writer.classAndObject(value, valueClass);
    }
  }

  #readEntry(reader: KryoReader, types: EntryTypes): ReadEntry {
    const { generics } = reader;
    if (types.generic !== undefined) generics.push(types.generic[0]!);
    const key = this.#readPart(reader, types.key, types.finalKey);
    if (types.generic !== undefined) generics.pop();
    return { key: present(key), value: this.#readPart(reader, types.value, types.finalValue) };
  }

  #readPart(reader: KryoReader, type: JavaType, final: JavaType | undefined): ReadObject | null {
    if (final === undefined) return reader.classAndObject(type);
    const serializer = reader.serializerOf(final.name);
    const hasFlags = this.rules.isImmutable !== true;
    const value = hasFlags ? reader.objectOrNull(serializer, type) : reader.object(serializer, type);
    return value === null ? null : { type: final.name, value };
  }
}

function typesOf({ model, generics }: KryoReader | KryoWriter, declared: JavaType | undefined): EntryTypes {
  const [key = OBJECT, value = OBJECT] = declared?.arguments ?? [];
  const generic = generics.next();
  return {
    key,
    value,
    finalKey: finalArgument(model, generic?.[0]),
    finalValue: finalArgument(model, generic?.[1]),
    generic,
  };
}

function readBare(reader: KryoReader, declared: JavaType | undefined): ReadEntry {
  const [key = OBJECT, value = OBJECT] = declared?.arguments ?? [];
  return { key: present(reader.classAndObject(key)), value: reader.classAndObject(value) };
}

function present(key: ReadObject | null): ReadObject {
  if (key === null) throw new UnreadableValue('a map with a null key has no form in JavaScript');
  return key;
}

/** Returns the keys in Java's order as far as it is known, because JavaScript moves keys that look like numbers to the front. */
function keysOf(object: Readonly<Record<string, unknown>>, known: ReadonlyMap<string, string> | undefined): string[] {
  // A map made by an application may name its class.
  if (known === undefined) return Object.keys(object).filter((key) => key !== CLASS);
  const received = [...known.keys()].filter((key) => Object.hasOwn(object, key));
  return [...received, ...Object.keys(object).filter((key) => !known.has(key))];
}

function keyClassOf(writer: KryoWriter, type: JavaType, received: string | undefined): string {
  const name = received ?? (isOpen(type) ? STRING : implementationOf(type));
  if (KEYS.has(name) || enumOf(writer.model, name) !== undefined) return name;
  throw new UnwritableValue(`a key cannot be a ${name}`);
}

function shown({ model }: KryoReader, type: { name: string; value: JavaType }, entries: readonly ReadEntry[]): object {
  const keys = new Map<string, string>();
  const hiddenClasses = new Map<string, HiddenClass>();
  const object = Object.fromEntries(
    entries.map(({ key, value }) => {
      const text = keyText(model, key);
      if (keys.has(text)) throw new UnreadableValue('a map has two keys that are the same in JavaScript');
      keys.set(text, key.type);
      const form = value === null ? { value, hidden: undefined } : shownAs(model, type.value, value);
      if (form.hidden !== undefined) hiddenClasses.set(text, form.hidden);
      return [text, form.value];
    }),
  );
  remember(object, { type: type.name, keys, hidden: hiddenClasses });
  return object;
}

function keyText(model: ClassModel, { type, value }: ReadObject): string {
  const isText = typeof value === 'string' || typeof value === 'bigint' || Number.isSafeInteger(value);
  if (!isText || (!KEYS.has(type) && enumOf(model, type) === undefined)) {
    throw new UnreadableValue(`a map with keys of ${type} has no form in JavaScript`);
  }
  return String(value);
}
