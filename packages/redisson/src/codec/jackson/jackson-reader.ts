import { CLASS } from '../java/java-classes.js';
import { JavaValue } from '../java/java-value.js';
import type { FieldsClass } from '../java/class-model.js';
import { type JavaType, OBJECT, PRIMITIVES } from '../java/java-type.js';
import { isAlphabetical } from '../json-keys.js';
import { type JsonNode, type JsonObject, numberOf, NumberText, type ParsedJson, writeNode } from '../json-text.js';
import { isMapClass, type JacksonMapping, type Place } from './jackson-mapping.js';
import type { JacksonMemory, ReceivedContainer, ReceivedPart } from './jackson-memory.js';
import { isContainer, JacksonWriter } from './jackson-writer.js';

/** Arrays (`[L…;`, `[B`…), or packages and a class by naming convention; an EnumSet also has type parameters. */
const CLASS_NAME = /^(?:\[+(?:[BCDFIJSZ]|L[\w.$]+;)|(?:[\p{L}_][\w$]*\.)+[\p{Lu}][\w$]*(?:<.*>)?)$/u;
const LEAST_LONG = -(2n ** 63n);

/** A value with its class: `["java.lang.Long",5]`. */
type Wrapper = [type: string, content: JsonNode];

interface ArrayFrom {
  readonly node: JsonNode[];
  readonly type: string;
  readonly place: Place;
  readonly element: Place;
}

const ORDINARY = { configurable: true, enumerable: true, writable: true };
const NO_PARTS: ReadonlyMap<string, ReceivedPart> = new Map();

/** Allocates nothing for most containers, which have no parts worth remembering. */
class PartsOf {
  all = NO_PARTS;

  set(key: string, part: ReceivedPart): void {
    if (this.all === NO_PARTS) this.all = new Map();
    (this.all as Map<string, ReceivedPart>).set(key, part);
  }
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

  /** Returns a number that would be written as another type with its type, because only containers are remembered. */
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
    // Versions of Redisson differ in wrapping UUIDs.
    const content = wrapper && (mapping.isWrapped(type) || type.name === 'java.util.UUID') ? wrapper[1] : node;
    if (scalar !== undefined) return scalar.read(content);
    if (type.element !== undefined || mapping.isCollection(type)) {
      const isWrapped = mapping.isWrapped(type);
      if (!Array.isArray(content) || isWrapped !== (content === wrapper?.[1])) return undefined;
      const element = type.element ?? type.arguments?.[0] ?? OBJECT;
      return this.#readArray({ node: content, type: isWrapped ? wrapper![0] : '', place: type, element });
    }
    if (!isObject(node)) return undefined;
    // The class is written unless the declared one is final.
    if (Object.hasOwn(node, CLASS) !== mapping.isWrapped(type)) return undefined;
    return mapping.fieldsClass(type.name) || mapping.isMap(type) ? this.#readObject(node, type) : undefined;
  }

  #readArray({ node, type, place, element }: ArrayFrom): unknown[] {
    const parts = new PartsOf();
    const array = node.map((each, i) => {
      const value = this.#read(each, element);
      this.#rememberPart(parts, String(i), { value, node: each, place: element });
      return value;
    });
    this.#remember(array, { type, place, keys: undefined, parts: parts.all }, node);
    return array;
  }

  #readObject(node: JsonObject, place: Place): object {
    const given = node[CLASS];
    const isImplied = given === undefined && place !== undefined && this.#mapping.fieldsClass(place.name) !== undefined;
    const type = isImplied ? place.name : typeof given === 'string' ? given : '';
    const isMap = isMapClass(type);
    const fields = this.#mapping.fieldsClass(type)?.fields;
    const entry = place && (place.arguments?.[1] ?? OBJECT);
    const object: Record<string, unknown> = isImplied ? { [CLASS]: type } : {};
    const keys: string[] = [];
    const parts = new PartsOf();
    for (const key of this.#json.keysOf(node)) {
      if (key === CLASS && type !== '') {
        if (!isMap) object[key] = type;
        continue;
      }
      const part = { node: node[key]!, place: isMap ? entry : fields?.get(key) };
      const value = this.#read(part.node, part.place);
      this.#rememberPart(parts, key, { value, ...part });
      keys.push(key);
      if (key === '__proto__') Object.defineProperty(object, key, { ...ORDINARY, value });
      else object[key] = value;
    }
    this.#remember(object, { type, place, keys, parts: parts.all }, node);
    return object;
  }

  #remember(container: object, received: Omit<ReceivedContainer, 'isPayload'>, node: JsonNode): void {
    if (received.parts === NO_PARTS && this.#isUsual(received)) return;
    this.#memory.remember(container, { ...received, isPayload: node === this.#json.root });
  }

  /** True if it would be written the same without being remembered, which costs time and memory. */
  #isUsual({ type, place, keys }: Omit<ReceivedContainer, 'isPayload'>): boolean {
    if (place === undefined) return false;
    const mapping = this.#mapping;
    const fields = mapping.fieldsClass(type);
    if (fields !== undefined) return isAlphabetical(keys!) && !fields.isRecord && isWhole(fields, keys!);
    if (keys?.some(isInteger) === true) return false;
    if (mapping.isFree(place)) return type === (keys ? 'java.util.LinkedHashMap' : 'java.util.ArrayList');
    return type === (mapping.isWrapped(place) ? mapping.classFor(place) : '');
  }

  /** Remembers the text of a part, unless it would be written the same anyway. */
  #rememberPart(parts: PartsOf, key: string, part: { value: unknown; node: JsonNode; place: Place }): void {
    const { value, node, place } = part;
    // Jackson omits fields that are null. Those that are present stay.
    if (node === null) return parts.set(key, { stamp: null, text: 'null' });
    if (place !== undefined && isNatural(node) && this.#mapping.isFree(place)) return undefined;
    if (isContainer(value)) {
      const received = this.#memory.recall(value);
      // It has no text of its own, because its parts are remembered with it.
      if (received?.place === undefined && received !== undefined) parts.set(key, { stamp: received, text: '' });
      return undefined;
    }
    const text = this.#text(node);
    if (place === undefined || this.#writer.tryWrite(value, place) !== text)
      parts.set(key, this.#partOf(value, node, text));
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

function isObject(node: JsonNode): node is JsonObject {
  return typeof node === 'object' && node !== null && !Array.isArray(node) && !(node instanceof NumberText);
}

/** True if an object has everything that one made here must have. */
function isWhole({ fields }: FieldsClass, keys: readonly string[]): boolean {
  return [...fields].every(([field, type]) => !PRIMITIVES.has(type.name) || keys.includes(field));
}

/** True if JavaScript puts a key before others. */
function isInteger(key: string): boolean {
  return key === String(Number(key) >>> 0);
}

/** True if it is written like this wherever its class is open. */
function isNatural(node: JsonNode): boolean {
  return typeof node === 'string' || typeof node === 'boolean' || (typeof node === 'number' && (node | 0) === node);
}

/**
 * True if an array is a value with its class. A wrapper never contains null; an array of texts may begin with one that looks like a class.
 */
function isWrapper(array: JsonNode[]): array is Wrapper {
  return array.length === 2 && typeof array[0] === 'string' && array[1] !== null && CLASS_NAME.test(array[0]);
}
