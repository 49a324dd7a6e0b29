import { CLASS } from '../java/java-classes.js';
import { type ClassModel, type FieldsClass, isFinal } from '../java/class-model.js';
import { type JavaType, PRIMITIVES } from '../java/java-type.js';
import { classFor, dataOf, propertiesOf, required, shownAs } from './forms.js';
import { UnwritableValue } from './kryo-failures.js';
import type { KryoReader } from './kryo-reader.js';
import type { KryoSerializer } from './kryo-serializer.js';
import type { KryoWriter } from './kryo-writer.js';
import { type HiddenClass, originOf, remember } from './origins.js';

interface Field {
  readonly name: string;
  readonly type: JavaType;
  /** True if Kryo writes the class of the value, which may differ from the declared one. */
  readonly isOpen: boolean;
  readonly isPrimitive: boolean;
}

/**
 * Objects of declared classes: their fields, sorted by name. Kryo's `FieldSerializer` uses the type arguments of fields, its
 * `RecordSerializer` does not.
 */
export class ObjectSerializer implements KryoSerializer {
  readonly acceptsNull = false;
  readonly #fields: readonly Field[];

  constructor(
    private readonly type: FieldsClass,
    model: ClassModel,
  ) {
    this.#fields = [...type.fields]
      .map(([name, fieldType]) => ({
        name,
        type: fieldType,
        isOpen: !isFinal(model, fieldType),
        isPrimitive: PRIMITIVES.has(fieldType.name),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  write(writer: KryoWriter, value: unknown): void {
    const properties = propertiesOf(value);
    this.#refuseUnknown(properties);
    const hidden = originOf(value)?.hidden;
    if (!this.type.isRecord) writer.generics.next();
    for (const field of this.#fields) {
      writer.path.push(field.name);
      const data = Object.hasOwn(properties, field.name) ? (dataOf(properties[field.name]) ?? null) : null;
      this.#writeField(writer, field, { data, hidden: hidden?.get(field.name) });
      writer.path.pop();
    }
    if (!this.type.isRecord) writer.generics.pop();
  }

  read(reader: KryoReader): unknown {
    const hiddenClasses = new Map<string, HiddenClass>();
    if (!this.type.isRecord) reader.generics.next();
    const entries = this.#fields.map((field) => [field.name, this.#readField(reader, field, hiddenClasses)] as const);
    if (!this.type.isRecord) reader.generics.pop();
    const object = Object.fromEntries<unknown>([[CLASS, this.type.name], ...entries]);
    if (hiddenClasses.size > 0) remember(object, { type: this.type.name, hidden: hiddenClasses });
    return object;
  }

  #refuseUnknown(properties: Readonly<Record<string, unknown>>): void {
    for (const [key, value] of Object.entries(properties)) {
      if (key === CLASS || this.type.fields.has(key) || value === undefined) continue;
      throw new UnwritableValue(`the class ${this.type.name} is declared without a field '${key}'`);
    }
  }

  #writeField(
    writer: KryoWriter,
    field: Field,
    { data, hidden }: { data: unknown; hidden: HiddenClass | undefined },
  ): void {
    const { name, type } = field;
    if (field.isPrimitive) {
      if (data === null) throw new UnwritableValue(`the field ${name} of type ${type.name} needs a value`);
      return writer.object(required(data, type.name), writer.serializerOf(type.name));
    }
    const typeName = !field.isOpen ? type.name : data === null ? null : classFor(writer, data, { type, hidden });
    if (field.isOpen) writer.className(typeName);
    if (typeName === null) return;
    if (!this.type.isRecord) writer.generics.push(type);
    const serializer = writer.serializerOf(typeName);
    if (field.isOpen) writer.object(data, serializer, type);
    else writer.objectOrNull(required(data, type.name), serializer, type);
    if (!this.type.isRecord) writer.generics.pop();
  }

  #readField(reader: KryoReader, field: Field, hiddenClasses: Map<string, HiddenClass>): unknown {
    const { type, name } = field;
    if (field.isPrimitive) return reader.object(reader.serializerOf(type.name));
    const typeName = field.isOpen ? reader.className() : type.name;
    if (typeName === null) return null;
    const serializer = reader.fitting(typeName, type);
    if (!this.type.isRecord) reader.generics.push(type);
    const read = field.isOpen ? reader.object(serializer, type) : reader.objectOrNull(serializer, type);
    if (!this.type.isRecord) reader.generics.pop();
    if (!field.isOpen || read === null) return read;
    const { value, hidden } = shownAs(reader.model, type, { type: typeName, value: read });
    if (hidden !== undefined) hiddenClasses.set(name, hidden);
    return value;
  }
}
