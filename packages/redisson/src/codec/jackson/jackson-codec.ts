import { types } from 'node:util';
import { DelayQueueError } from 'nestjs-delay-queue';
import { writeJsonData } from 'nestjs-delay-queue/layouts';
import { parseClasses } from '../java/class-model.js';
import type { JavaClasses } from '../java/java-classes.js';
import { OBJECT } from '../java/java-type.js';
import { JavaValue } from '../java/java-value.js';
import { configured } from '../configured-codec.js';
import { parseJson } from '../json-text.js';
import type { PayloadCodec, TextCodec } from '../payload-codec.js';
import { presentJson, unreadable } from '../payload-errors.js';
import { readUtf8 } from '../utf8.js';
import { checkForJackson } from './check-classes.js';
import { JacksonMapping } from './jackson-mapping.js';
import { JacksonMemory } from './jackson-memory.js';
import { JacksonReader } from './jackson-reader.js';
import { JacksonWriter } from './jackson-writer.js';

/** Options of {@link jackson}. */
export interface JacksonCodecOptions {
  /** The classes of the application whose objects are offered here. Received objects need no declaration. */
  readonly classes?: JavaClasses | undefined;
  /**
   * The version of Jackson on the Java side: 3 for `JsonJackson3Codec`, which writes Longs, dates and emoji differently.
   * @defaultValue 2
   */
  readonly jackson?: 2 | 3 | undefined;
  /**
   * How Java writes a field of type UUID: as `'text'` before Redisson 4.2, and `'typed'`, with the name of its class, since. Neither
   * version reads the other form. Without this option, such fields can only be offered as they were received.
   */
  readonly uuids?: 'text' | 'typed' | undefined;
}

/** Separate, because Jackson 3 does not read what was received from Jackson 2. */
const memories = { 2: new JacksonMemory(), 3: new JacksonMemory() };

/**
 * Makes a configured codec `'jackson'`, for `JsonJacksonCodec` or, with `jackson: 3`, `JsonJackson3Codec`.
 * @throws DelayQueueError `INVALID_OPTION`
 * @example
 * ```ts
 * const codec = jackson({ classes: { 'com.shop.OrderTimeout': { orderId: 'String', amount: 'Long' } } });
 * DelayQueueModule.forRoot({ queues: { orders: { layout: redisson({ codec }) } } });
 * ```
 */
export function jackson(options: JacksonCodecOptions = {}): PayloadCodec {
  return configured('jackson', jacksonCodecWith(options));
}

/** Redisson's `JsonJacksonCodec`: JSON that contains the names of Java classes. The page on codecs has the table. */
export function jacksonCodecWith({ classes = {}, jackson: version = 2, uuids }: JacksonCodecOptions): TextCodec {
  if (version !== 2 && version !== 3) throw invalid('jackson: must be 2 or 3');
  if (uuids !== undefined && uuids !== 'text' && uuids !== 'typed') throw invalid("uuids: must be 'text' or 'typed'");
  // Redisson has had codecs for Jackson 3 since 4.1.
  const model = parseClasses(classes);
  checkForJackson(model);
  const mapping = new JacksonMapping({ model, jackson: version, uuids });
  const memory = memories[version];
  return {
    encode(payload) {
      const write = (data: unknown) => new JacksonWriter(mapping, memory).write(data, OBJECT);
      return presentJson(writeJsonData(payload, write, { keeps, copied: memory.rememberCopy }));
    },

    decode(bytes) {
      const text = readUtf8(bytes, 'jackson');
      try {
        return new JacksonReader(mapping, memory, parseJson(text)).readPayload();
      } catch {
        throw unreadable(bytes, 'jackson', 'its JSON is malformed, or nested too deeply');
      }
    },
  };
}

/** True for a value that Jackson can represent although plain JSON cannot. */
function keeps(value: unknown): boolean {
  if (typeof value === 'bigint' || types.isUint8Array(value) || value instanceof JavaValue) return true;
  return types.isDate(value) && !Number.isNaN(Date.prototype.getTime.call(value));
}

function invalid(problem: string): DelayQueueError {
  return new DelayQueueError('INVALID_OPTION', `jackson(): ${problem}`);
}
