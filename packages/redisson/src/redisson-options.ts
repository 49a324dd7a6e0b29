import { checkLayoutOptions } from 'nestjs-delay-queue/layouts';
import type { CodecName, PayloadCodec } from './codec/payload-codec.js';
import type { EntryFormat } from './entry-format.js';

/** The options of {@link redisson}. All are optional. */
export interface RedissonOptions {
  /**
   * How payloads are encoded: `'json'`, `'string'`, `'buffer'`, `'jackson'`, `'kryo5'`, one of these with options, or your own codec. It
   * must match the codec of the Java side; `kryo5()`, `jackson()` and `json()` make codecs with options.
   * @defaultValue `'json'`
   */
  readonly codec?: CodecName | PayloadCodec | undefined;
  /**
   * The format in which entries are written: `'Bc0Lc0'` for Redisson 3.21.1 and later, `'dLc0'` for earlier versions. Both are read.
   * @defaultValue `'Bc0Lc0'`
   */
  readonly format?: EntryFormat | undefined;
  /**
   * The queue's name in Redisson, if it differs. 1–512 characters; braces only as one pair around some text. It differs if it has a hash
   * tag, characters that a queue name cannot have here, or a prefix that a `NameMapper` adds. A layout with a name is for one queue.
   * @defaultValue the queue's name
   */
  readonly name?: string | undefined;
}

/** The options with all defaults filled in. */
export interface ResolvedRedissonOptions {
  readonly codec: CodecName | PayloadCodec;
  readonly format: EntryFormat;
  readonly name?: string;
}

// With any other braces, a cluster would spread the queue's keys over several hash slots.
const NAME = /^(?=.{1,512}$)[^{}]*(\{[^{}]+\}[^{}]*)?$/s;

const CODEC_NAMES: readonly CodecName[] = ['json', 'string', 'buffer', 'jackson', 'kryo5'];
const FORMATS: readonly EntryFormat[] = ['Bc0Lc0', 'dLc0'];

/** @throws DelayQueueError `INVALID_OPTION`, naming each field that is wrong */
export function resolveRedissonOptions(given: RedissonOptions): ResolvedRedissonOptions {
  return checkLayoutOptions<ResolvedRedissonOptions>(given, {
    place: 'redisson()',
    example: "{ codec: 'json' }",
    options: {
      codec: {
        rule: `${CODEC_NAMES.map((name) => `'${name}'`).join(', ')} or an object with encode() and decode()`,
        accepts: (value) => CODEC_NAMES.includes(value as CodecName) || isCodec(value),
        fallback: 'json',
      },
      format: {
        rule: "'Bc0Lc0' or 'dLc0'",
        accepts: (value) => FORMATS.includes(value as EntryFormat),
        fallback: 'Bc0Lc0',
      },
      name: {
        rule: '1–512 characters, with braces only as one pair around something',
        accepts: (value) => typeof value === 'string' && NAME.test(value),
      },
    },
  });
}

function isCodec(value: unknown): boolean {
  const { encode, decode } = (value ?? {}) as Partial<PayloadCodec>;
  return typeof encode === 'function' && typeof decode === 'function';
}
