import { types } from 'node:util';
import { type JsonLoss, lossOf, lossOfList } from 'nestjs-delay-queue/layouts';
import { CLASS } from '../java/java-classes.js';
import { type ClassModel, isFinal } from '../java/class-model.js';
import type { JavaType } from '../java/java-type.js';
import { JavaValue } from '../java/java-value.js';
import { isInt64 } from './int64.js';
import { UnwritableValue } from './kryo-failures.js';
import type { ReadObject } from './kryo-reader.js';
import type { KryoWriter } from './kryo-writer.js';
import { isInt } from './numbers.js';
import { type HiddenClass, originOf, remember } from './origins.js';
import { collections, maps } from './platform-containers.js';
import { enumOf, implementationOf, isAssignable, isOpen } from './platform-types.js';
import { isOffset } from './iso-times.js';

/** Classes whose values carry their type in JavaScript as well. */
const NATURAL: ReadonlySet<string> = new Set([
  'java.lang.String',
  'java.lang.Boolean',
  'java.lang.Integer',
  'java.util.Date',
  '[B',
]);
const DOUBLE = 'java.lang.Double';
const ZONE_ID = 'java.time.ZoneId';

/** A value as it is shown, and its class if the value does not show it. */
interface Shown {
  readonly value: unknown;
  readonly hidden?: HiddenClass;
}

/** Shows a value in a place without a declared type, where it must carry its own. */
export function shownFree({ type, value }: ReadObject): Shown {
  if (NATURAL.has(type) || isContainer(value)) return { value };
  if (type === DOUBLE) return naturalClass(value) === DOUBLE ? { value } : { value, hidden: { type, value } };
  if (type === 'java.lang.Long') return { value: BigInt(value as number | bigint) };
  if (type === 'java.math.BigInteger' && !isInt64(BigInt(value as bigint))) return { value };
  return { value: new JavaValue(type, value) };
}

/** Shows the value of a field that is not final, so that it is written with the same class again. */
export function shownAs(model: ClassModel, declared: JavaType, read: ReadObject): Shown {
  const { type, value } = read;
  if (isContainer(value)) return { value };
  if (enumOf(model, type)?.name === declared.name) return { value, hidden: { type, value } };
  if (!isOpen(declared) && classOfDeclared(declared, value) === type) return { value };
  if (!isOpen(declared) && types.isDate(value)) {
    if (originOf(value) === undefined) remember(value, { type });
    return { value };
  }
  return shownFree(read);
}

/** Returns a value as data: what its `toJSON()` returns, without a box around a primitive. */
export function dataOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof JavaValue || types.isDate(value)) return value;
  if (types.isBoxedPrimitive(value)) return value.valueOf();
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON !== 'function' || types.isUint8Array(value)) return value;
  return (toJSON as () => unknown).call(value);
}

/** The place of a value to be written. */
interface Place {
  readonly type: JavaType;
  /** The class received there. */
  readonly hidden?: HiddenClass | undefined;
}

/**
 * Returns the class as which a value is written where Kryo writes the class: its own, the one that was received, or that of the
 * declaration.
 * @throws UnwritableValue if there is none, or if Java could not keep its object there
 */
export function classFor(writer: KryoWriter, value: unknown, { type, hidden }: Place): string {
  const name =
    ownClass(value) ??
    receivedClass(writer, value, type) ??
    hiddenClass(value, hidden) ??
    declaredClass(writer, value, type) ??
    naturalClass(value);
  if (isAssignable(writer.model, type, name)) return name;
  const hint = writer.model.get(type.name)?.kind === 'fields' ? `; give it the '${CLASS}' of its class` : '';
  throw new UnwritableValue(`a ${name} does not fit where the declared type is ${type.name}${hint}`);
}

/** Checks that a value with a type of its own is of the class that the declaration requires. */
export function required(value: unknown, name: string): unknown {
  const own = ownClass(value) ?? name;
  if (own !== name) throw new UnwritableValue(`a ${own} does not fit where the declared type is ${name}`);
  return value;
}

function ownClass(value: unknown): string | undefined {
  if (value instanceof JavaValue) return value.type;
  if (!isObject(value) || originOf(value)?.keys !== undefined || !Object.hasOwn(value, CLASS)) return undefined;
  const name = (value as Record<string, unknown>)[CLASS];
  if (typeof name !== 'string') throw new UnwritableValue(`its '${CLASS}' must be a class name`);
  return name;
}

function receivedClass({ model }: KryoWriter, value: unknown, type: JavaType): string | undefined {
  const name = originOf(value)?.type;
  if (name === undefined || !isAssignable(model, type, name)) return undefined;
  const size = (collections[name] ?? maps[name])?.size;
  return size === undefined || size === Object.keys(value as object).length ? name : undefined;
}

/** Returns the received class if it still applies: a changed number remains a Double, another constant has another class. */
function hiddenClass(value: unknown, hidden: HiddenClass | undefined): string | undefined {
  if (hidden === undefined) return undefined;
  const isSame = value === hidden.value || (typeof value === 'number' && hidden.type === DOUBLE);
  return isSame ? hidden.type : undefined;
}

function declaredClass({ model }: KryoWriter, value: unknown, type: JavaType): string | undefined {
  if (isOpen(type)) return undefined;
  const declared = isFinal(model, type) ? undefined : model.get(type.name);
  if (declared?.kind === 'fields') return undefined;
  if (declared?.kind === 'enum') {
    throw new UnwritableValue(
      `${type.name} has constants with bodies, whose classes a text does not show; offer a constant as it was received, ` +
        `or as new JavaValue('${type.name}$1', …)`,
    );
  }
  return classOfDeclared(type, value);
}

function classOfDeclared(type: JavaType, value: unknown): string {
  if (type.name !== ZONE_ID) return implementationOf(type);
  return isOffset(String(value)) ? 'java.time.ZoneOffset' : 'java.time.ZoneRegion';
}

/** Returns the class of a value that shows it by itself. */
function naturalClass(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'java.lang.String';
    case 'boolean':
      return 'java.lang.Boolean';
    case 'number':
      if (!Number.isSafeInteger(value) || Object.is(value, -0)) return DOUBLE;
      return isInt(value) ? 'java.lang.Integer' : 'java.lang.Long';
    case 'bigint':
      return isInt64(value) ? 'java.lang.Long' : 'java.math.BigInteger';
    case 'object':
      return value === null ? refuse('null') : classOfObject(value);
    default:
      return refuse(value === undefined ? 'undefined' : `a ${typeof value}`);
  }
}

function classOfObject(value: object): string {
  if (types.isDate(value)) return 'java.util.Date';
  if (types.isUint8Array(value)) return '[B';
  return Array.isArray(value) ? 'java.util.ArrayList' : 'java.util.LinkedHashMap';
}

/** Checks that an object keeps all its data in its properties. */
export function propertiesOf(value: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(value) || Array.isArray(value) || types.isDate(value) || value instanceof JavaValue) {
    return refuse(
      Array.isArray(value) ? 'an array, where an object is expected' : 'a value that is not a plain object',
    );
  }
  refuseLoss(lossOf(value));
  return value as Readonly<Record<string, unknown>>;
}

/** Returns the elements of an array as data. */
export function elementsOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new UnwritableValue(`${what} takes an array`);
  refuseLoss(lossOfList(value));
  return Array.from(value, dataOf);
}

function refuseLoss(loss: JsonLoss | undefined): void {
  if (loss !== undefined) throw new UnwritableValue(`${loss.what} cannot be written; ${loss.advice}`);
}

function refuse(what: string): never {
  throw new UnwritableValue(`${what} cannot be written`);
}

/** True for an array or a plain object, which keeps or remembers its own class. */
function isContainer(value: unknown): boolean {
  return isObject(value) && !types.isDate(value) && !types.isUint8Array(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
