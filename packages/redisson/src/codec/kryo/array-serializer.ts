import { isFinal } from '../java/class-model.js';
import { type JavaType, PRIMITIVES } from '../java/java-type.js';
import { classFor, elementsOf, required, shownAs } from './forms.js';
import type { KryoReader } from './kryo-reader.js';
import type { KryoSerializer } from './kryo-serializer.js';
import type { KryoWriter } from './kryo-writer.js';
import { type HiddenClass, originOf, remember } from './origins.js';

/** Arrays of primitives, of final classes, whose class Kryo does not repeat, and of others, where each element has its class. */
export class ArraySerializer implements KryoSerializer {
  readonly acceptsNull = true;
  readonly #element: JavaType;

  constructor(private readonly type: JavaType) {
    this.#element = type.element!;
  }

  write(writer: KryoWriter, value: unknown): void {
    if (value === null) return writer.output.byte(0);
    const elements = elementsOf(value, `a ${this.#element.name}[]`);
    const hidden = originOf(value)?.hidden;
    writer.output.varInt(elements.length + 1);
    elements.forEach((element, i) => {
      writer.path.push(i);
      if (!this.#isSame(writer)) this.#writeOpen(writer, element, hidden?.get(i));
      else this.#writeSame(writer, element);
      writer.path.pop();
    });
  }

  read(reader: KryoReader): unknown {
    const plusOne = reader.input.varInt();
    if (plusOne === 0) return null;
    const length = reader.input.length(plusOne);
    const hiddenClasses = new Map<number, HiddenClass>();
    const isSame = this.#isSame(reader);
    const elements = Array.from({ length }, (_, i) => {
      if (isSame) return this.#readSame(reader);
      const read = reader.classAndObject(this.#element);
      if (read === null) return null;
      const { value, hidden } = shownAs(reader.model, this.#element, read);
      if (hidden !== undefined) hiddenClasses.set(i, hidden);
      return value;
    });
    remember(elements, { type: this.type.name, hidden: hiddenClasses });
    return elements;
  }

  /** True if Kryo writes no classes of elements: for a final class, and for any array of arrays. */
  #isSame({ model }: KryoReader | KryoWriter): boolean {
    return this.#element.element !== undefined || isFinal(model, this.#element);
  }

  #writeSame(writer: KryoWriter, element: unknown): void {
    const serializer = writer.serializerOf(this.#element.name);
    const value = required(element, this.#element.name);
    if (this.#isBare) serializer.write(writer, value);
    else writer.objectOrNull(value, serializer, this.#element);
  }

  #readSame(reader: KryoReader): unknown {
    const serializer = reader.serializerOf(this.#element.name);
    return this.#isBare ? serializer.read(reader) : reader.objectOrNull(serializer, this.#element);
  }

  get #isBare(): boolean {
    return PRIMITIVES.has(this.#element.name);
  }

  #writeOpen(writer: KryoWriter, element: unknown, hidden: HiddenClass | undefined): void {
    const name = element === null ? null : classFor(writer, element, { type: this.#element, hidden });
    writer.classAndObject(element, name, this.#element);
  }
}
