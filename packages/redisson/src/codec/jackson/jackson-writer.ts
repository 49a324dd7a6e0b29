import { types } from 'node:util';
import { inReceivedOrder, isAlphabetical } from '../json-keys.js';
import type { FieldsClass } from '../java/class-model.js';
import { type JavaType, OBJECT, PRIMITIVES, typeOfName } from '../java/java-type.js';
import { CLASS } from '../java/java-classes.js';
import { JavaValue } from '../java/java-value.js';
import { isMapClass, isSamePlace, type JacksonMapping, type Place } from './jackson-mapping.js';
import type { JacksonMemory, ReceivedContainer, ReceivedPart } from './jackson-memory.js';
import { JacksonValues } from './jackson-values.js';

type Fields = Readonly<Record<string, unknown>>;

/** How the elements of an array are written. An empty class means none, because Java knows it. */
interface ElementsAs {
  readonly type: string;
  readonly element: Place;
  readonly received: ReceivedContainer | undefined;
}

interface EntriesAs {
  readonly type: string;
  readonly key?: JavaType | undefined;
  readonly value: Place;
  readonly received: ReceivedContainer | undefined;
}

interface FieldsAs {
  /** Empty: the object is of a class that only Java knows. */
  readonly name: string;
  /** True if the class is written. */
  readonly isTyped: boolean;
  readonly received: ReceivedContainer | undefined;
}

/** Writes checked data for `JsonJacksonCodec`. A value that it cannot write exactly is refused with its path. */
export class JacksonWriter {
  readonly #mapping: JacksonMapping;
  readonly #memory: JacksonMemory;
  readonly #values: JacksonValues;

  constructor(mapping: JacksonMapping, memory: JacksonMemory) {
    this.#mapping = mapping;
    this.#memory = memory;
    this.#values = new JacksonValues(mapping, memory);
  }

  /**
   * Writes a value for a place.
   * @param part - the part received there
   * @throws DelayQueueError `INVALID_PAYLOAD`
   */
  write(value: unknown, place: Place, part?: ReceivedPart): string {
    if (value instanceof JavaValue) return this.#writeJavaValue(value, place, part);
    if (!isContainer(value)) return this.#values.write(value, place, part);
    const received = this.#memory.recall(value);
    // Still the value that was received here, even if it does not fit the declaration.
    const isHere = received !== undefined && received === part?.stamp;
    if (place === undefined || isHere) return this.#writeUndeclared(value, received, isHere);
    if (Array.isArray(value)) {
      // Elsewhere it is an array like any other.
      const known = received && isSamePlace(received.place, place) ? received : undefined;
      return this.#mapping.isFree(place)
        ? this.#writeFreeArray(value, place, known)
        : this.#writeTypedArray(value, place, known);
    }
    return this.#mapping.isFree(place)
      ? this.#writeFreeObject(value as Fields, place, received)
      : this.#writeTypedObject(value as Fields, place, received);
  }

  /** Undefined if the value cannot be written. */
  tryWrite(value: unknown, place: Place): string | undefined {
    try {
      return this.write(value, place);
    } catch {
      this.#values.path.length = 0;
      return undefined;
    }
  }

  #writeJavaValue(value: JavaValue, place: Place, part: ReceivedPart | undefined): string {
    const isOpen = place !== undefined && this.#mapping.isFree(place);
    if (isOpen && !this.#mapping.admits(place, value.type)) this.#refuse(this.#mapping.ruleFor(place));
    const received = isOpen ? this.#memory.recallText(value) : undefined;
    if (received !== undefined) return received;
    const type =
      isOpen && isContainer(value.value) && typeof value.type === 'string' ? typeOfName(value.type) : undefined;
    if (type === undefined || !Array.isArray(value.value)) return this.#values.write(value, place, part);
    if (type.element === undefined && !this.#mapping.isCollection(type)) this.#refuse(this.#mapping.ruleFor(type));
    return this.#writeElements(value.value, { type: type.name, element: type.element ?? OBJECT, received: undefined });
  }

  /** Writes an object or array in a place of unknown type. It must have been received there, or carry its class. */
  #writeUndeclared(value: object, received: ReceivedContainer | undefined, isHere: boolean): string {
    const type = classOf(value as Fields);
    if (received !== undefined && (received.type !== '' || isHere)) {
      if (Array.isArray(value)) {
        const element = received.type.startsWith('[') ? this.#mapping.elementOf(received.type) : undefined;
        return this.#writeElements(value, { type: received.type, element, received });
      }
      return isMapClass(received.type)
        ? this.#writeEntries(value as Fields, { type: received.type, value: undefined, received })
        : this.#writeFields(value as Fields, { name: type ?? '', isTyped: received.type !== '', received });
    }
    if (type !== undefined && this.#mapping.fieldsClass(type)) {
      return this.#writeFields(value as Fields, { name: type, isTyped: true, received });
    }
    return this.#values.refuseUndeclared();
  }

  #writeFreeArray(array: readonly unknown[], place: JavaType, received: ReceivedContainer | undefined): string {
    if (!canBeAnything(place)) this.#refuse(this.#mapping.ruleFor(place));
    const isKnown = received !== undefined && (received.type !== '' || this.#isPayload(received));
    const type = isKnown ? received.type : 'java.util.ArrayList';
    const element = type === '' ? undefined : type.startsWith('[') ? this.#mapping.elementOf(type) : OBJECT;
    return this.#writeElements(array, { type, element, received });
  }

  #writeTypedArray(array: readonly unknown[], place: JavaType, received: ReceivedContainer | undefined): string {
    const mapping = this.#mapping;
    const isArray =
      mapping.scalar(place.name) === undefined && (place.element !== undefined || mapping.isCollection(place));
    if (!isArray) this.#refuse(mapping.ruleFor(place));
    const type = received !== undefined && received.type !== '' ? received.type : this.#classFor(place);
    const element = place.element ?? place.arguments?.[0] ?? OBJECT;
    return this.#writeElements(array, { type: mapping.isWrapped(place) ? type : '', element, received });
  }

  #writeElements(array: readonly unknown[], { type, element, received }: ElementsAs): string {
    let text = '';
    for (let i = 0; i < array.length; i++) {
      this.#values.path.push(i);
      text += `${i === 0 ? '' : ','}${this.write(array[i], element, received?.parts.get(String(i)))}`;
      this.#values.path.pop();
    }
    return type === '' ? `[${text}]` : `["${type}",[${text}]]`;
  }

  #writeFreeObject(object: Fields, place: JavaType, received: ReceivedContainer | undefined): string {
    if (!canBeAnything(place)) this.#refuse(this.#mapping.ruleFor(place));
    const type = this.#classOf(object, received);
    if (type === undefined && received !== undefined && !isMapClass(received.type)) {
      if (!this.#isPayload(received)) {
        this.#refuse('an object of a class that is final in Java cannot be offered elsewhere without its @class');
      }
      return this.#writeFields(object, { name: '', isTyped: false, received });
    }
    if (type !== undefined && !isMapClass(type))
      return this.#writeFields(object, { name: type, isTyped: true, received });
    const known = received && isMapClass(received.type) && isSamePlace(received.place, place) ? received : undefined;
    return this.#writeEntries(object, {
      type: type ?? known?.type ?? 'java.util.LinkedHashMap',
      value: OBJECT,
      received: known,
    });
  }

  #writeTypedObject(object: Fields, place: JavaType, received: ReceivedContainer | undefined): string {
    const mapping = this.#mapping;
    const given = this.#classOf(object, received);
    if (mapping.isMap(place)) {
      const [key, value = OBJECT] = place.arguments ?? [];
      const isSame = received !== undefined && isMapClass(received.type) && isSamePlace(received.place, place);
      const known = isSame ? received : undefined;
      return this.#writeEntries(object, { type: known?.type ?? this.#classFor(place), key, value, received: known });
    }
    if (!mapping.fieldsClass(place.name)) this.#refuse(mapping.ruleFor(place));
    const name = given ?? place.name;
    const isTyped = mapping.isWrapped(place);
    if (name !== place.name && !(isTyped && mapping.mayExtend(name, place.name))) this.#refuse(mapping.ruleFor(place));
    return this.#writeFields(object, { name, isTyped, received });
  }

  #classFor(place: JavaType): string {
    const what = this.#mapping.describe(place);
    return this.#mapping.classFor(place) ?? this.#refuse(`its enum is not declared; declare it as ${what}<…>`);
  }

  #writeEntries(object: Fields, { type, key, value, received }: EntriesAs): string {
    let text = `{"${CLASS}":${this.#mapping.quote(type)}`;
    const keys = Object.keys(object);
    for (const name of received?.keys === undefined ? keys : inReceivedOrder(received.keys, keys)) {
      const entry = object[name];
      if (name === CLASS || entry === undefined) continue;
      this.#values.path.push(name);
      if (key !== undefined) this.#checkKey(name, key);
      text += `,${this.#mapping.quote(name)}:${this.write(entry, value, received?.parts.get(name))}`;
      this.#values.path.pop();
    }
    return `${text}}`;
  }

  /** Checks a key, which Jackson writes as text and reads as declared. */
  #checkKey(name: string, type: JavaType): void {
    const scalar = this.#mapping.scalar(type.name);
    if (scalar === undefined || scalar.write(name) !== undefined) return;
    const isKey = /^-?\d{1,20}$/.test(name) && scalar.write(BigInt(name)) === name;
    if (!isKey) this.#refuse(`the key of this entry is not a ${this.#mapping.describe(type)}`);
  }

  #writeFields(object: Fields, { name, isTyped, received: as }: FieldsAs): string {
    const mapping = this.#mapping;
    const declared = mapping.fieldsClass(name);
    const received = as?.type === name ? as : undefined;
    if (declared === undefined && received === undefined) {
      this.#refuse(
        `${name === '' ? 'its class' : name.slice(0, 100)} is not declared, and this object was not received; declare its class in jackson({ classes })`,
      );
    }
    if (declared !== undefined && received === undefined) this.#checkPrimitives(object, declared);
    const parts = isTyped ? [`"${CLASS}":${mapping.quote(name)}`] : [];
    for (const key of this.#fieldOrder(object, declared, received)) {
      const value = object[key];
      if (value === undefined || (key === CLASS && name !== '')) continue;
      this.#values.path.push(key);
      const part = received?.parts.get(key);
      const type = declared?.fields.get(key);
      if (type === undefined && part === undefined) this.#refuseField(name, declared);
      // Java omits nulls.
      if (value !== null || part?.text === 'null') parts.push(`${mapping.quote(key)}:${this.write(value, type, part)}`);
      else if (type !== undefined) this.write(null, type);
      this.#values.path.pop();
    }
    return `{${parts.join(',')}}`;
  }

  /** Refuses missing primitive fields. Java has a value in each, which this codec cannot choose. */
  #checkPrimitives(object: Fields, { fields }: FieldsClass): void {
    for (const [key, type] of fields) {
      if (!PRIMITIVES.has(type.name) || (object[key] ?? undefined) !== undefined) continue;
      this.#values.path.push(key);
      this.#refuse(this.#mapping.ruleFor(type));
    }
  }

  #refuseField(name: string, declared: FieldsClass | undefined): never {
    return declared === undefined ? this.#values.refuseUndeclared() : this.#refuse(`${name} has no such field`);
  }

  /** Orders fields: Jackson sorts those of a class, and Jackson 3 puts those of a record first as they are declared. */
  #fieldOrder(object: Fields, declared: FieldsClass | undefined, received: ReceivedContainer | undefined): string[] {
    const keys = Object.keys(object);
    if (received?.keys !== undefined && !isAlphabetical(received.keys)) return inReceivedOrder(received.keys, keys);
    if (declared?.isRecord === true && this.#mapping.jackson === 3)
      return inReceivedOrder([...declared.fields.keys()], keys);
    return isAlphabetical(keys) ? keys : keys.sort();
  }

  #classOf(object: Fields, received: ReceivedContainer | undefined): string | undefined {
    const given = Object.hasOwn(object, CLASS) ? object[CLASS] : undefined;
    if (typeof given === 'string' || given === undefined || received?.type === '') return classOf(object);
    return this.#refuse(`${CLASS} must be a class name, not ${typeof given}`);
  }

  /** True if it was received as a whole payload, and is one again. */
  #isPayload(received: ReceivedContainer | undefined): boolean {
    return received?.isPayload === true && this.#values.path.length === 0;
  }

  #refuse(reason: string): never {
    return this.#values.refuse(reason);
  }
}

/** True if a value of a payload has parts. */
export function isContainer(value: unknown): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    !types.isDate(value) &&
    !types.isUint8Array(value) &&
    !(value instanceof JavaValue)
  );
}

function classOf(object: Fields): string | undefined {
  const type = Object.hasOwn(object, CLASS) ? object[CLASS] : undefined;
  return typeof type === 'string' ? type : undefined;
}

function canBeAnything({ name }: JavaType): boolean {
  return name === OBJECT.name || name === 'java.io.Serializable';
}
