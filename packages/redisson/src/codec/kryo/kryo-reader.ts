import type { ClassModel } from '../java/class-model.js';
import { type JavaType, typeOfName } from '../java/java-type.js';
import { NAMED_CLASS, nameOf, NULL_CLASS } from './class-ids.js';
import { Generics, MAX_DEPTH } from './generics.js';
import { MalformedBytes, UnreadableValue } from './kryo-failures.js';
import type { KryoInput } from './kryo-input.js';
import { isAssignable } from './platform-types.js';

const CLASS_NAME = /^(?:\[+(?:[ZBCSIJFD]|L[\p{L}\p{N}_$.]{1,500};)|[\p{L}\p{N}_$.]{1,500})$/u;

/** Reads the objects of one class, in the form of fields whose type is declared. */
export interface ObjectReader {
  /** True if it reads null itself. Otherwise a byte before it says if there is an object. */
  readonly acceptsNull: boolean;
  /** @param type - the declaration of the field, with the types of the object's elements */
  read(reader: KryoReader, type?: JavaType): unknown;
}

/** An object and the name of its class. */
export interface ReadObject {
  readonly type: string;
  readonly value: unknown;
}

/** Reads objects as Kryo does, one message with each reader. */
export class KryoReader {
  readonly generics = new Generics();
  /** The names of classes that the message has written out. */
  readonly #names: string[] = [];

  constructor(
    readonly input: KryoInput,
    readonly model: ClassModel,
    private readonly serializers: { of(name: string): ObjectReader },
  ) {}

  /** Null where Java has null. */
  className(): string | null {
    const id = this.input.varInt();
    if (id === NULL_CLASS) return null;
    if (id === NAMED_CLASS) return this.#spelledName();
    const name = nameOf(id);
    if (name === undefined) {
      throw new UnreadableValue(
        `class number ${id} is registered in Java only; use a Kryo5Codec without registered classes`,
      );
    }
    return name;
  }

  serializerOf(name: string): ObjectReader {
    return this.serializers.of(name);
  }

  /** Reads an object that is not null. */
  object(serializer: ObjectReader, type?: JavaType): unknown {
    const value = this.#read(serializer, type);
    if (value === null) throw new MalformedBytes('null is where an object should be');
    return value;
  }

  objectOrNull(serializer: ObjectReader, type?: JavaType): unknown {
    if (serializer.acceptsNull) return this.#read(serializer, type);
    return this.input.boolean() ? this.object(serializer, type) : null;
  }

  /** Reads an object after its class, which must fit the type. */
  classAndObject(type: JavaType): ReadObject | null {
    const name = this.className();
    return name === null ? null : { type: name, value: this.object(this.fitting(name, type), type) };
  }

  /** Returns the serializer of a class that must fit the declared type. */
  fitting(name: string, type: JavaType): ObjectReader {
    const serializer = this.serializers.of(name);
    if (isAssignable(this.model, type, name)) return serializer;
    throw new UnreadableValue(`there is a ${name} where the declared type is ${type.name}`);
  }

  #read(serializer: ObjectReader, type?: JavaType): unknown {
    if (++this.generics.depth > MAX_DEPTH) throw new UnreadableValue(`it is nested deeper than ${MAX_DEPTH} levels`);
    const value = serializer.read(this, type);
    this.generics.depth--;
    return value;
  }

  #spelledName(): string {
    const id = this.input.varInt();
    const known = this.#names[id];
    if (known !== undefined) return known;
    const name = this.input.string();
    const isName = id === this.#names.length && name !== null && CLASS_NAME.test(name);
    if (!isName || typeOfName(name) === undefined) throw new MalformedBytes('the name of a class is malformed');
    this.#names.push(name);
    return name;
  }
}
