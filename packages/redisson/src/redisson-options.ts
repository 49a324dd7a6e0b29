import { z } from 'zod/mini';
import { check, mustBe, oneOf } from 'nestjs-delay-queue/layouts';
import type { CodecName, PayloadCodec } from './codec/payload-codec.js';
import type { EntryFormat } from './entry-format.js';

/** The options of {@link redisson}. All are optional. */
export interface RedissonOptions {
  /**
   * How payloads are encoded: `'json'`, `'string'`, `'buffer'`, `'jackson'`, `'kryo5'`, one with options, or a codec of your own. It
   * must match the codec of the Java side; `kryo5()`, `jackson()` and `json()` make codecs with options.
   *
   * @defaultValue `'json'`
   */
  readonly codec?: CodecName | PayloadCodec | undefined;
  /**
   * The format of the entries that are written: `'Bc0Lc0'` for Redisson 3.21.1 and later, `'dLc0'` for earlier versions. Both are
   * read.
   *
   * @defaultValue `'Bc0Lc0'`
   */
  readonly format?: EntryFormat | undefined;
  /**
   * The queue's name in Redisson, if it differs. 1–512 characters; braces only as one pair around something. It differs if it has a
   * hash tag, characters that a queue name cannot have here, or a prefix that a `NameMapper` adds. A layout with a name is for one
   * queue.
   *
   * @defaultValue the queue's name
   */
  readonly name?: string | undefined;
}

/** The options with every default filled in. */
export type ResolvedRedissonOptions = Readonly<z.output<typeof schema>>;

// With any other braces a cluster would spread the queue's keys over several slots.
const NAME = /^(?=.{1,512}$)[^{}]*(\{[^{}]+\}[^{}]*)?$/s;
const NAME_RULE = '1–512 characters, with braces only as one pair around something';

const CODEC_NAMES = ['json', 'string', 'buffer', 'jackson', 'kryo5'] as const satisfies readonly CodecName[];

const schema = z.strictObject(
  {
    codec: z.prefault(
      z.union(
        [z.enum(CODEC_NAMES), z.custom<PayloadCodec>(isCodec)],
        mustBe(`${CODEC_NAMES.map((name) => `'${name}'`).join(', ')} or an object with encode() and decode()`),
      ),
      'json',
    ),
    format: z.prefault(oneOf('Bc0Lc0', 'dLc0'), 'Bc0Lc0'),
    name: z.optional(z.string(mustBe(NAME_RULE)).check(z.regex(NAME, mustBe(NAME_RULE)))),
  } satisfies { readonly [Name in keyof Required<RedissonOptions>]: z.ZodMiniType<unknown, RedissonOptions[Name]> },
  mustBe("an object, such as { codec: 'json' }"),
);

/** @throws DelayQueueError `INVALID_OPTION`, naming each field that is wrong */
export function resolveRedissonOptions(options: RedissonOptions): ResolvedRedissonOptions {
  return check(schema, options, 'redisson()');
}

function isCodec(value: unknown): boolean {
  const { encode, decode } = (value ?? {}) as Partial<PayloadCodec>;
  return typeof encode === 'function' && typeof decode === 'function';
}
