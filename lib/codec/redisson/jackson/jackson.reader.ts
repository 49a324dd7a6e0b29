import { JavaValue } from '../java/java-value.js';
import { type JavaType, OBJECT } from '../java/java-type.js';
import { type JsonNode, type JsonObject, numberOf, NumberText, type ParsedJson, writeNode } from '../json-text.js';
import { CLASS, isMapClass, type JacksonMapping, type Place } from './jackson.mapping.js';
import type { JacksonMemory, ReceivedPart } from './jackson.memory.js';
import { JacksonWriter } from './jackson.writer.js';

/** Arrays (`[L…;`, `[B`…), or packages and a class by naming convention; an EnumSet also has type parameters. */
const CLASS_NAME = /^(?:\[+(?:[BCDFIJSZ]|L[\w.$]+;)|(?:[\p{L}_][\w$]*\.)+[\p{Lu}][\w$]*(?:<.*>)?)$/u;
const LEAST_LONG = -(2n ** 63n);

/** A value with its class: `["java.lang.Long",5]`. */
type Wrapper = [type: string, content: JsonNode];

/** Of a container, whose text is that of its parts. */
const UNWRITTEN = '';

/** The parts of a container, and the types of their places. */
interface Parts {
  readonly entries: Iterable<[key: string, node: JsonNode]>;
  readonly placeOf: (key: string) => Place;
}

/** Reads what `JsonJacksonCodec` writes, and remembers what the result does not show. */
export class JacksonReader {
  readonly #mapping: JacksonMapping;
  readonly #memory: JacksonMemory;
  readonly #writer: JacksonWriter;
  readonly #json: ParsedJson;

  constructor(mapping: JacksonMapping, memory: JacksonMemory, json: ParsedJson) {
    this.#mapping = mapping;
    this.#memory = memory;
    this.#writer = new JacksonWriter(mapping, memory);
    this.#json = json;
  }

  /** A number that would be written as another type is returned with its type, because only containers are remembered. */
  readPayload(): unknown {
    const { root } = this.#json;
    const value = this.#read(root, OBJECT);
    if (typeof value !== 'number' && typeof value !== 'bigint') return value;
    const text = this.#text(root);
    if (this.#writer.tryWrite(value, OBJECT) === text) return value;
    const typed = new JavaValue(/^-?\d+$/.test(text) ? 'java.lang.Long' : 'java.lang.Double', value);
    this.#memory.rememberText(typed, text);
    return typed;
  }

  #read(node: JsonNode, place: Place): unknown {
    if (node === null) return null;
    if (place === undefined) return this.#readUntyped(node, undefined);
    if (this.#mapping.isFree(place)) return this.#readUntyped(node, place);
    // Bytes that do not fit the declaration are read without it.
    return this.#readTyped(node, place) ?? this.#readUntyped(node, undefined);
  }

  /** Reads a value whose class shows only in its bytes. */
  #readUntyped(node: JsonNode, place: Place): unknown {
    if (node instanceof NumberText) return numberOf(node.literal);
    if (typeof node !== 'object' || node === null) return node;
    if (!Array.isArray(node)) return this.#readObject(node, place);
    return isWrapper(node)
      ? this.#readWrapper(node, place)
      : this.#readArray({ node, type: '', place, element: undefined });
  }

  #readWrapper([type, content]: Wrapper, place: Place): unknown {
    if (Array.isArray(content)) {
      const element = type.startsWith('[') ? this.#mapping.elementOf(type) : place && OBJECT;
      return this.#readArray({ node: content, type, place, element });
    }
    const value = this.#mapping.scalar(type)?.read(content);
    if (value !== undefined && place === undefined) return value;
    if (type === 'java.lang.Long' && value !== undefined) return BigInt(value as number);
    if (type === 'java.math.BigInteger' && typeof value === 'bigint' && (value < LEAST_LONG || value >= -LEAST_LONG)) {
      return value;
    }
    if ((type === 'java.util.Date' || type === '[B') && value !== undefined) return value;
    const typed = new JavaValue(type, value ?? this.#readUntyped(content, undefined));
    this.#memory.rememberText(typed, this.#text([type, content]));
    return typed;
  }

  #readTyped(node: JsonNode, type: JavaType): unknown {
    const mapping = this.#mapping;
    const scalar = mapping.scalar(type.name);
    const wrapper = Array.isArray(node) && isWrapper(node) ? node : undefined;
    // Versions of Redisson differ in whether UUIDs are wrapped.
    const content = wrapper && (mapping.isWrapped(type) || type.name === 'java.util.UUID') ? wrapper[1] : node;
    if (scalar !== undefined) return scalar.read(content);
    if (type.element !== undefined || mapping.isCollection(type)) {
      const isWrapped = mapping.isWrapped(type);
      if (!Array.isArray(content) || isWrapped !== (wrapper !== undefined && content === wrapper[1])) return undefined;
      const element = type.element ?? type.arguments?.[0] ?? OBJECT;
      return this.#readArray({ node: content, type: isWrapped ? wrapper![0] : '', place: type, element });
    }
    if (typeof node !== 'object' || Array.isArray(node) || node instanceof NumberText || node === null)
      return undefined;
    const isObject = mapping.isMap(type) || (mapping.fieldsClass(type.name) && !mapping.isWrapped(type));
    return isObject || Object.hasOwn(node, CLASS) ? this.#readObject(node, type) : undefined;
  }

  #readArray(from: { node: JsonNode[]; type: string; place: Place; element: Place }): unknown[] {
    const { node, type, place, element } = from;
    const array: unknown[] = [];
    const entries = node.map((part, i): [string, JsonNode] => [String(i), part]);
    const parts = this.#readParts({ entries, placeOf: () => element }, (_, value) => array.push(value));
    this.#memory.remember(array, {
      type,
      isPayload: node === this.#json.root,
      place: place?.name,
      keys: undefined,
      parts,
    });
    return array;
  }

  #readObject(node: JsonObject, place: Place): object {
    const given = node[CLASS];
    const type = typeof given === 'string' ? given : '';
    const keys = this.#json.keysOf(node);
    const isMap = isMapClass(type);
    const implied =
      type === '' && place !== undefined && this.#mapping.fieldsClass(place.name) ? place.name : undefined;
    const fields = this.#mapping.fieldsClass(implied ?? type)?.fields;
    const valuePlace = place && (this.#mapping.isFree(place) ? OBJECT : (place.arguments?.[1] ?? OBJECT));
    const placeOf = (key: string) => (isMap ? valuePlace : fields?.get(key));
    const own = keys.filter((key) => key !== CLASS || type === '');
    const values = new Map<string, unknown>(implied === undefined ? [] : [[CLASS, implied]]);
    // First as they are in the text, which is where Java writes the class.
    for (const key of keys) if (key !== CLASS || (type !== '' && !isMap)) values.set(key, type);
    const parts = this.#readParts({ entries: own.map((key) => [key, node[key]!]), placeOf }, (key, value) =>
      values.set(key, value),
    );
    // Built from entries, so that `__proto__` is a key like any other.
    const object = Object.fromEntries(values);
    this.#memory.remember(object, { type, isPayload: node === this.#json.root, place: place?.name, keys: own, parts });
    return object;
  }

  #readParts({ entries, placeOf }: Parts, add: (key: string, value: unknown) => void): Map<string, ReceivedPart> {
    const parts = new Map<string, ReceivedPart>();
    for (const [key, node] of entries) {
      const place = placeOf(key);
      const value = this.#read(node, place);
      const text = this.#textUnlessWritten(value, node, place);
      // Jackson leaves out fields that are null; those that are there stay.
      if (node === null) parts.set(key, { stamp: null, text: 'null' });
      else if (text !== undefined) parts.set(key, this.#partOf(value, node, text));
      add(key, value);
    }
    return parts;
  }

  /** The text of a part, unless it would be written the same without being remembered. */
  #textUnlessWritten(value: unknown, node: JsonNode, place: Place): string | undefined {
    if (this.#memory.recall(value as object) !== undefined) return place === undefined ? UNWRITTEN : undefined;
    if (place !== undefined && typeof node === 'string' && this.#mapping.isFree(place)) return undefined;
    const text = this.#text(node);
    return this.#writer.tryWrite(value, place) === text ? undefined : text;
  }

  #partOf(value: unknown, node: JsonNode, text: string): ReceivedPart {
    const isTyped = Array.isArray(node) && isWrapper(node) && this.#mapping.scalar(node[0]) !== undefined;
    return {
      stamp: this.#memory.stampOf(value),
      text,
      ...(isTyped && !(value instanceof JavaValue) && { type: node[0] }),
    };
  }

  #text(node: JsonNode): string {
    return writeNode(node, this.#mapping.quote);
  }
}

/** An array never holds null as the content of a wrapper; an array of texts may begin with what looks like a class. */
function isWrapper(array: JsonNode[]): array is Wrapper {
  return array.length === 2 && typeof array[0] === 'string' && array[1] !== null && CLASS_NAME.test(array[0]);
}
