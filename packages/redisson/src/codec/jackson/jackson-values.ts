import { types } from 'node:util';
import { DelayQueueError } from 'nestjs-delay-queue';
import { showPath } from 'nestjs-delay-queue/layouts';
import { javaDouble } from '../java/java-decimal.js';
import { type JavaType, PRIMITIVES } from '../java/java-type.js';
import { JavaValue } from '../java/java-value.js';
import type { JacksonMapping, Place } from './jackson-mapping.js';
import type { JacksonMemory, ReceivedPart } from './jackson-memory.js';

const GREATEST_INT = 2 ** 31 - 1;
const MAX_LONG = 2n ** 63n;
/** Classes that Jackson never writes, even where the class is open. */
const NATURAL: ReadonlySet<string> = new Set(
  ['String', 'Boolean', 'Integer', 'Double'].map((name) => `java.lang.${name}`),
);

const UNDECLARED =
  'the type of this Java field is not declared, so it can only be offered as it was received; declare its class in jackson({ classes })';

/** Writes values without parts, each for its place. */
export class JacksonValues {
  /** The path of the current value in the payload. */
  readonly path: (string | number)[] = [];
  readonly #mapping: JacksonMapping;
  readonly #memory: JacksonMemory;

  constructor(mapping: JacksonMapping, memory: JacksonMemory) {
    this.#mapping = mapping;
    this.#memory = memory;
  }

  /**
   * Writes a value.
   * @param part - the part received there
   * @throws DelayQueueError `INVALID_PAYLOAD`
   */
  write(value: unknown, place: Place, part?: ReceivedPart): string {
    if (value === null) return this.#writeNull(place, part);
    if (part !== undefined && this.#memory.stampOf(value) === part.stamp) return part.text;
    if (place === undefined) return this.#writeUndeclared(value, part);
    return this.#mapping.isFree(place) ? this.#writeFree(value, place) : this.#writeTyped(value, place);
  }

  refuse(reason: string): never {
    throw new DelayQueueError('INVALID_PAYLOAD', `${showPath(this.path)}: ${reason}`);
  }

  refuseUndeclared(): never {
    this.refuse(UNDECLARED);
  }

  #writeNull(place: Place, part: ReceivedPart | undefined): string {
    if (place === undefined && part?.text !== 'null') this.refuseUndeclared();
    if (place !== undefined && PRIMITIVES.has(place.name)) this.refuse(this.#mapping.ruleFor(place));
    return 'null';
  }

  /** Writes a value without a declaration. Only what the bytes name can change. */
  #writeUndeclared(value: unknown, part: ReceivedPart | undefined): string {
    if (typeof value === 'boolean' && typeof part?.stamp === 'boolean') return String(value);
    if (part?.type === undefined) return this.refuseUndeclared();
    return wrap(part.type, this.#contentOf(value, { name: part.type }));
  }

  #writeFree(value: unknown, place: JavaType): string {
    if (!this.#mapping.admits(place, classOf(value))) this.refuse(this.#mapping.ruleFor(place));
    if (typeof value === 'string') return this.#mapping.quote(value);
    if (typeof value === 'number') return writeNumber(value);
    if (typeof value === 'bigint') return writeBigInt(value);
    if (value instanceof JavaValue) return this.#writeJavaValue(value);
    if (typeof value === 'boolean') return String(value);
    return this.#writeWithClass(types.isDate(value) ? 'java.util.Date' : '[B', value);
  }

  #writeJavaValue({ type, value }: JavaValue): string {
    if (typeof type !== 'string' || this.#mapping.scalar(type) === undefined) {
      return this.refuse(
        `codec 'jackson' does not know the class of this JavaValue; if it is an enum, declare it in jackson({ classes })`,
      );
    }
    return this.#writeWithClass(type, value);
  }

  #writeWithClass(type: string, value: unknown): string {
    const content = this.#contentOf(value, { name: type });
    return NATURAL.has(type) ? content : wrap(type, content);
  }

  #writeTyped(given: unknown, place: JavaType): string {
    const mapping = this.#mapping;
    const value = given instanceof JavaValue && given.type === place.name ? given.value : given;
    const content = this.#contentOf(value, place);
    if (place.name === 'java.util.UUID' && mapping.uuids === undefined) {
      this.refuse(
        "Redisson writes a UUID in one way before 4.2 and in another since; set uuids of jackson() to 'text' or 'typed'",
      );
    }
    return mapping.isWrapped(place) ? wrap(mapping.classFor(place)!, content) : content;
  }

  #contentOf(value: unknown, type: JavaType): string {
    return this.#mapping.scalar(type.name)?.write(value) ?? this.refuse(this.#mapping.ruleFor(type));
  }
}

/** Returns the class of a value in a place without a type. */
function classOf(value: unknown): string {
  if (value instanceof JavaValue) return value.type;
  if (typeof value === 'string') return 'java.lang.String';
  if (typeof value === 'number') return 'java.lang.Double';
  if (typeof value === 'bigint') return 'java.lang.Long';
  if (typeof value === 'boolean') return 'java.lang.Boolean';
  return types.isDate(value) ? 'java.util.Date' : '[B';
}

/** Writes a safe integer as an Integer or, beyond 32 bits, a Long, and any other number as a Double. */
function writeNumber(value: number): string {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) return javaDouble(value);
  const isInt = value <= GREATEST_INT && value >= -GREATEST_INT - 1;
  return isInt ? String(value) : wrap('java.lang.Long', String(value));
}

function writeBigInt(value: bigint): string {
  const isLong = value < MAX_LONG && value >= -MAX_LONG;
  return wrap(isLong ? 'java.lang.Long' : 'java.math.BigInteger', String(value));
}

function wrap(type: string, content: string): string {
  return `["${type}",${content}]`;
}
