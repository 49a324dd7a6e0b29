import type { EnumClass } from '../java/class-model.js';
import { UnreadableValue, UnwritableValue } from './kryo-failures.js';
import type { KryoReader } from './kryo-reader.js';
import type { KryoSerializer } from './kryo-serializer.js';
import type { KryoWriter } from './kryo-writer.js';

/** Reads and writes an enum by the position of its constant. */
export class EnumSerializer implements KryoSerializer {
  readonly acceptsNull = true;

  constructor(private readonly type: EnumClass) {}

  write({ output }: KryoWriter, value: unknown): void {
    const { name, constants } = this.type;
    const position = typeof value === 'string' ? constants.indexOf(value) : -1;
    if (value !== null && position < 0) throw new UnwritableValue(`the value is not a declared constant of ${name}`);
    output.varInt(position + 1);
  }

  read({ input }: KryoReader): unknown {
    const { name, constants } = this.type;
    const position = input.varInt();
    if (position === 0) return null;
    const constant = constants[position - 1];
    if (constant === undefined) {
      throw new UnreadableValue(`constant ${position} of ${name} is not declared; list all of its constants`);
    }
    return constant;
  }
}
