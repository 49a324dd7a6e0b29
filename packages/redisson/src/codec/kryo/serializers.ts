import type { ClassModel } from '../java/class-model.js';
import { PRIMITIVES, typeOfName } from '../java/java-type.js';
import { ArraySerializer } from './array-serializer.js';
import { CollectionSerializer } from './collection-serializer.js';
import { EnumSerializer } from './enum-serializer.js';
import { UnreadableValue } from './kryo-failures.js';
import type { KryoSerializer, Scalar } from './kryo-serializer.js';
import { MapSerializer } from './map-serializer.js';
import { numbers } from './numbers.js';
import { ObjectSerializer } from './object-serializer.js';
import { collections, maps } from './platform-containers.js';
import { enumOf } from './platform-types.js';
import { textsAndDates } from './texts-and-dates.js';
import { times } from './times.js';

const platform: ReadonlyMap<string, KryoSerializer> = new Map<string, KryoSerializer>([
  ...Object.entries({ ...numbers, ...textsAndDates, ...times }).map(
    ([name, scalar]) => [name, serializerOf(scalar)] as const,
  ),
  ...Object.entries(collections).map(([name, rules]) => [name, new CollectionSerializer(name, rules)] as const),
  ...Object.entries(maps).map(([name, rules]) => [name, new MapSerializer(name, rules)] as const),
]);

/** The serializers of all classes that can be read and written, by name. */
export class Serializers {
  readonly #declared = new Map<string, KryoSerializer>();

  constructor(private readonly model: ClassModel) {}

  /** @throws UnreadableValue if there is none; the message also says what to do for writing */
  of(name: string): KryoSerializer {
    const known = platform.get(name) ?? this.#declared.get(name);
    if (known !== undefined) return known;
    const made = this.#make(name);
    this.#declared.set(name, made);
    return made;
  }

  #make(name: string): KryoSerializer {
    const type = typeOfName(name);
    if (type?.element !== undefined) return new ArraySerializer(type);
    const declared = this.model.get(name) ?? enumOf(this.model, name);
    if (declared?.kind === 'fields') return new ObjectSerializer(declared, this.model);
    if (declared?.kind === 'enum') return new EnumSerializer(declared);
    const isJavas = /^(?:java|javax|jdk|sun)\./.test(name) || PRIMITIVES.has(name);
    throw new UnreadableValue(
      isJavas
        ? `this codec does not support the class ${name}`
        : `class ${name} is not declared; add it to kryo5({ classes })`,
    );
  }
}

function serializerOf({ acceptsNull = false, write, read }: Scalar): KryoSerializer {
  return { acceptsNull, write: ({ output }, value) => write(output, value), read: ({ input }) => read(input) };
}
