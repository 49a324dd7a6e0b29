import { DelayQueueError } from 'nestjs-delay-queue';
import { showPath } from 'nestjs-delay-queue/layouts';
import { parseClasses } from '../java/class-model.js';
import type { JavaClasses } from '../java/java-classes.js';
import { OBJECT } from '../java/java-type.js';
import { JavaValue } from '../java/java-value.js';
import { configured } from '../configured-codec.js';
import type { PayloadCodec } from '../payload-codec.js';
import { unreadable, unwritable } from '../payload-errors.js';
import { checkForKryo } from './check-classes.js';
import { classFor, dataOf, shownFree } from './forms.js';
import { MalformedBytes, UnreadableValue, UnwritableValue } from './kryo-failures.js';
import { KryoInput } from './kryo-input.js';
import { KryoReader } from './kryo-reader.js';
import { KryoWriter } from './kryo-writer.js';
import { Serializers } from './serializers.js';

/** Options of {@link kryo5}. */
export interface Kryo5CodecOptions {
  /** The classes of the application whose objects are in payloads. Objects of other classes can be neither read nor written. */
  readonly classes?: JavaClasses | undefined;
}

/**
 * Redisson's `Kryo5Codec`, its default codec since 3.19. The bytes contain neither the names nor the types of fields, so the classes of an
 * application must be declared. The page on codecs shows the forms of Java's values.
 * @example
 * ```ts
 * const codec = kryo5({ classes: { 'com.shop.Order': { id: 'String', amount: 'Long' } } });
 *
 * DelayQueueModule.forRoot({ queues: { orders: { layout: redisson({ codec }) } } });
 * ```
 * @throws DelayQueueError `INVALID_OPTION` for an impossible class or field, or one that Kryo would write differently from its declaration
 */
export function kryo5(options: Kryo5CodecOptions = {}): PayloadCodec {
  return configured('kryo5', kryo5CodecWith(options));
}

/** Like {@link kryo5}, but not in the form for applications. */
export function kryo5CodecWith({ classes = {}, ...others }: Kryo5CodecOptions): PayloadCodec {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new DelayQueueError('INVALID_OPTION', `kryo5: there is no option '${unknown}'`);
  const model = parseClasses(classes);
  checkForKryo(model);
  const serializers = new Serializers(model);
  return {
    encode: (payload) => encode(payload, new KryoWriter(model, serializers)),
    decode: (bytes) => decode(bytes, (input) => new KryoReader(input, model, serializers)),
  };
}

function encode(payload: unknown, writer: KryoWriter): Buffer {
  try {
    const value = dataOf(payload);
    if (value === null) throw new UnwritableValue('Java cannot distinguish null from an empty queue; offer an object');
    writer.classAndObject(value, classFor(writer, value, { type: OBJECT }));
    return writer.output.copy();
  } catch (cause) {
    if (cause instanceof UnwritableValue || cause instanceof UnreadableValue) {
      throw new DelayQueueError('INVALID_PAYLOAD', `${showPath(writer.path)}: ${cause.message}`);
    }
    if (cause instanceof DelayQueueError) throw cause;
    throw unwritable('it cannot be read; see the cause', cause);
  }
}

function decode(bytes: Buffer, readerOf: (input: KryoInput) => KryoReader): unknown {
  const input = new KryoInput(bytes);
  try {
    const read = readerOf(input).classAndObject(OBJECT);
    if (input.left > 0) throw new MalformedBytes('something follows the value');
    if (read === null) return null;
    const { value, hidden } = shownFree(read);
    return hidden !== undefined ? new JavaValue(read.type, value) : value;
  } catch (cause) {
    if (cause instanceof MalformedBytes) throw unreadable(bytes, 'kryo5', cause.message);
    if (!(cause instanceof UnreadableValue))
      throw unreadable(bytes, 'kryo5', 'they cannot be decoded; see the cause', cause);
    throw new DelayQueueError('INVALID_PAYLOAD', `payload: its ${bytes.length} bytes cannot be read: ${cause.message}`);
  }
}
