import type { ClassModel } from '../java/class-model.js';
import type { JavaType } from '../java/java-type.js';
import { JavaValue } from '../java/java-value.js';
import { idOf, NAMED_CLASS, NULL_CLASS } from './class-ids.js';
import { Generics, MAX_DEPTH } from './generics.js';
import { UnwritableValue } from './kryo-failures.js';
import { KryoOutput } from './kryo-output.js';

/** Writes the objects of one class. */
export interface ObjectWriter {
  /** True if it writes null itself. Otherwise a byte before it says if there is an object. */
  readonly acceptsNull: boolean;
  /**
   * @param type - the declaration of the field, with the types of the object's elements
   * @throws UnwritableValue for a value that it cannot write exactly
   */
  write(writer: KryoWriter, value: unknown, type?: JavaType): void;
}

/** Writes objects as Kryo does, one message with each writer. */
export class KryoWriter {
  readonly output = new KryoOutput();
  readonly generics = new Generics();
  /** The path of the current value; kept after a throw, for the error. */
  readonly path: (string | number)[] = [];
  readonly #names = new Map<string, number>();

  constructor(
    readonly model: ClassModel,
    private readonly serializers: { of(name: string): ObjectWriter },
  ) {}

  className(name: string | null): void {
    if (name === null) return this.output.byte(NULL_CLASS);
    const id = idOf(name);
    if (id !== undefined) return this.output.varInt(id);
    this.output.byte(NAMED_CLASS);
    const known = this.#names.get(name);
    this.output.varInt(known ?? this.#names.size);
    if (known !== undefined) return;
    this.#names.set(name, this.#names.size);
    this.output.name(name);
  }

  serializerOf(name: string): ObjectWriter {
    return this.serializers.of(name);
  }

  /** Writes a value that is not null, or that the serializer writes even if it is. */
  object(value: unknown, serializer: ObjectWriter, type?: JavaType): void {
    if (++this.generics.depth > MAX_DEPTH) {
      throw new UnwritableValue(`it is nested deeper than ${MAX_DEPTH} levels, or contains itself`);
    }
    serializer.write(this, value instanceof JavaValue ? value.value : value, type);
    this.generics.depth--;
  }

  objectOrNull(value: unknown, serializer: ObjectWriter, type?: JavaType): void {
    if (!serializer.acceptsNull) this.output.boolean(value !== null);
    if (value !== null || serializer.acceptsNull) this.object(value, serializer, type);
  }

  /** Writes a value after its class. Null has neither. */
  classAndObject(value: unknown, name: string | null, type?: JavaType): void {
    this.className(name);
    if (name !== null) this.object(value, this.serializers.of(name), type);
  }

  /** Runs `write` for a part of the current value. */
  within(key: string | number, write: () => void): void {
    this.path.push(key);
    write();
    this.path.pop();
  }
}
