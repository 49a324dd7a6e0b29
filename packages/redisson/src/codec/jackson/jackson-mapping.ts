import { CLASS } from '../java/java-classes.js';
import { type ClassModel, type FieldsClass, isFinal } from '../java/class-model.js';
import { type JavaType, typeOfName } from '../java/java-type.js';
import { platformClasses } from '../java/platform-classes.js';
import { quoteJson, quoteJson3 } from '../json-text.js';
import { enumOf, type Scalar, scalarsBy } from './jackson-scalars.js';

/** The Java type of a place; undefined for a field of an undeclared class and its contents, which can only be written as received. */
export type Place = JavaType | undefined;

/** How the field `UUID id` is written: as text before Redisson 4.2, with its type since. */
export type UuidForm = 'text' | 'typed';

export interface MappingOptions {
  readonly model: ClassModel;
  readonly jackson: 2 | 3;
  readonly uuids: UuidForm | undefined;
}

/** The class with which Jackson makes a collection or map that is declared as this type. */
const IMPLEMENTATIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'lang.Iterable': 'ArrayList',
    'util.Collection': 'ArrayList',
    'util.List': 'ArrayList',
    'util.Queue': 'LinkedList',
    'util.Deque': 'LinkedList',
    'util.Set': 'HashSet',
    'util.SortedSet': 'TreeSet',
    'util.NavigableSet': 'TreeSet',
    'util.Map': 'LinkedHashMap',
    'util.SortedMap': 'TreeMap',
    'util.NavigableMap': 'TreeMap',
    'util.concurrent.ConcurrentMap': 'concurrent.ConcurrentHashMap',
    'util.Calendar': 'GregorianCalendar',
  }).map(([declared, made]) => [`java.${declared}`, `java.util.${made}`]),
);

const FREE: ReadonlySet<string> = new Set(
  ['Object', 'Number', 'CharSequence', 'Comparable'].map((name) => `java.lang.${name}`),
).add('java.io.Serializable');
const MAP_CLASS = /^java\.(?:\w+\.)+(?:\w+\$)?(?:\w*Map\w{0,2}|Properties|Hashtable)(?:<.*>)?$/;
const COLLECTION_CLASS =
  /^java\.util\.(?:\w+\.)?\w*(?:List|Set|Queue|Deque|Collection|Vector|Stack)$|^java\.lang\.Iterable$/;

const NUMBERS =
  /^java\.(?:lang\.(?:Byte|Short|Integer|Long|Float|Double)|math\.Big(?:Integer|Decimal)|util\.concurrent\.atomic\.Atomic(?:Integer|Long))$/;
const INCOMPARABLE = /^\[|^java\.util\.concurrent\.atomic\./;

/** True for Java's maps, whose entries look like the fields of an application's class. */
export function isMapClass(name: string): boolean {
  return name.startsWith('java.') && MAP_CLASS.test(name);
}

/** How Redisson's mapper writes types: which with their class, and in what form. */
export class JacksonMapping {
  readonly quote: (text: string) => string;
  readonly model: ClassModel;
  readonly jackson: 2 | 3;
  readonly uuids: UuidForm | undefined;
  readonly #scalars: ReadonlyMap<string, Scalar>;
  readonly #enums = new Map<string, Scalar>();

  constructor({ model, jackson, uuids }: MappingOptions) {
    this.model = model;
    this.jackson = jackson;
    this.uuids = uuids;
    this.quote = jackson === 2 ? quoteJson : quoteJson3;
    const writeDate = (date: Date) => (jackson === 2 ? String(date.getTime()) : `"${date.toISOString()}"`);
    this.#scalars = scalarsBy({ quote: this.quote, writeDate });
    for (const declared of model.values()) {
      if (declared.kind === 'enum') this.#enums.set(declared.name, enumOf(declared.constants, this.quote));
    }
  }

  /** Finds a type without parts. */
  scalar(name: string): Scalar | undefined {
    return this.#scalars.get(name) ?? this.#enums.get(name);
  }

  /** Finds the declared class of an object. */
  fieldsClass(name: string): FieldsClass | undefined {
    const declared = this.model.get(name);
    return declared?.kind === 'fields' ? declared : undefined;
  }

  /** True if a place whose type admits several classes admits this one. */
  admits({ name }: JavaType, type: string): boolean {
    if (name === 'java.lang.Number') return NUMBERS.test(type);
    if (name === 'java.lang.CharSequence') return type === 'java.lang.String';
    return name !== 'java.lang.Comparable' || (this.scalar(type) !== undefined && !INCOMPARABLE.test(type));
  }

  /** True if a class can be a subclass of another, because it has all its fields. */
  mayExtend(name: string, parent: string): boolean {
    const fields = this.fieldsClass(name)?.fields;
    const inherited = this.fieldsClass(parent)?.fields;
    if (fields === undefined || inherited === undefined) return false;
    return [...inherited].every(([field, type]) => fields.has(field) && isSamePlace(fields.get(field), type));
  }

  /** True if a value's type shows only in its bytes, because the declaration admits others. */
  isFree({ name }: JavaType): boolean {
    return FREE.has(name);
  }

  /** Describes a type in words, for errors. */
  describe(type: JavaType): string {
    if (type.element !== undefined) return `${this.describe(type.element)}[]`;
    return type.name.startsWith('java.') ? type.name.slice(type.name.lastIndexOf('.') + 1) : type.name;
  }

  /** Describes in words what a payload must hold for a type. */
  ruleFor(type: JavaType): string {
    return `must be ${this.#acceptedFor(type)} (its type in Java is ${this.describe(type)})`;
  }

  #acceptedFor(type: JavaType): string {
    const { name, element } = type;
    if (name === 'java.lang.Number') return 'a number, a BigInt or a JavaValue';
    if (name === 'java.lang.CharSequence') return 'text';
    if (name === 'java.lang.Comparable') return 'a value that can be compared';
    if (element !== undefined && this.scalar(name) === undefined) return 'an array';
    if (this.isCollection(type)) return 'an array';
    if (this.isMap(type)) return 'an object';
    if (this.fieldsClass(name)) return `an object with its ${CLASS}`;
    return this.scalar(name)?.accepts ?? 'what was received, because this codec does not know its bytes';
  }

  isCollection({ name }: JavaType): boolean {
    return COLLECTION_CLASS.test(name) && platformClasses.has(name);
  }

  isMap({ name }: JavaType): boolean {
    return isMapClass(name) && platformClasses.has(name);
  }

  /** Returns the type of the elements of an array of another class than the declared one; undefined if unknown. */
  elementOf(arrayClass: string): Place {
    const element = typeOfName(arrayClass)?.element;
    return element !== undefined && this.#isKnown(innermost(element)) ? element : undefined;
  }

  #isKnown(type: JavaType): boolean {
    return this.isFree(type) || this.scalar(type.name) !== undefined || this.fieldsClass(type.name) !== undefined;
  }

  /** True if a value is written with its class in a place that is declared as this type. */
  isWrapped(type: JavaType): boolean {
    if (type.name === 'java.util.UUID') return this.uuids === 'typed';
    if (this.jackson === 2 && innermost(type).name === 'java.lang.Long') return true;
    return !isFinal(this.model, type);
  }

  /**
   * Returns the class that is written for a value in a place that is declared as this type, unless another was received. Undefined for an
   * EnumSet or EnumMap that is declared without its enum, which Jackson needs.
   */
  classFor({ name, arguments: args }: JavaType): string | undefined {
    if (name === 'java.util.EnumSet') return args && `${name}<${args[0]!.name}>`;
    if (name === 'java.util.EnumMap') return args && `${name}<${args[0]!.name},java.lang.Object>`;
    return IMPLEMENTATIONS.get(name) ?? name;
  }
}

/** True if two places are declared alike. */
export function isSamePlace(a: Place, b: Place): boolean {
  if (a === b) return true;
  if (a?.name !== b?.name || a?.arguments?.length !== b?.arguments?.length) return false;
  return a?.arguments?.every((each, i) => isSamePlace(each, b!.arguments![i])) ?? true;
}

function innermost(type: JavaType): JavaType {
  return type.element === undefined ? type : innermost(type.element);
}
