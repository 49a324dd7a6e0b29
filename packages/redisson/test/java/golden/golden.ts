import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JsonFixtureCodec } from '../fixture-codecs.js';
import type { RedissonLine } from '../java-build.js';

/** The codecs with golden bytes. */
export type GoldenCodec = 'string' | 'bytes' | 'kryo5' | 'jackson' | 'json';

/** The input of Java: a value, a text repeated `times`, or one of its samples. */
export type GoldenInput = { readonly value: unknown; readonly times?: number } | { readonly sample: string };

/** The output of Java, as text, as hex if it is binary, or as a digest if it is long; or its error. */
export type GoldenBytes =
  | { readonly text: string }
  | { readonly hex: string }
  | { readonly sha256: string; readonly length: number }
  | { readonly refused: string };

export interface GoldenPayload {
  readonly input: GoldenInput;
  readonly bytes: GoldenBytes;
}

/** The traces of one offer of Java in Redis. Bytes are hex. */
export interface GoldenOffer {
  readonly codec: GoldenCodec;
  readonly value: unknown;
  /** The member of the sorted set, and its score. */
  readonly entry: string;
  readonly score: string;
  /** The element of the list of entries. */
  readonly listed: string;
  /** The published message, as text. */
  readonly published: string;
  /** The value that the transfer pushed to the target list. */
  readonly target: string;
}

export interface Golden {
  readonly redisson: string;
  readonly payloads: Readonly<Record<GoldenCodec, readonly GoldenPayload[]>>;
  readonly offers: readonly GoldenOffer[];
}

export function goldenFile(line: RedissonLine): string {
  return fileURLToPath(new URL(`./redisson-${line}.json`, import.meta.url));
}

export function readGolden(line: RedissonLine): Golden {
  return JSON.parse(readFileSync(goldenFile(line), 'utf8')) as Golden;
}

/** The output of a JSON codec for a fixture, in these lines of Redisson. */
export interface GoldenFixture {
  readonly codec: JsonFixtureCodec;
  readonly fixture: string;
  readonly lines: readonly RedissonLine[];
  readonly text: string;
}

/** The output of Kryo for a fixture, in these lines of Redisson. */
export interface GoldenKryoFixture {
  readonly fixture: string;
  readonly lines: readonly RedissonLine[];
  /** Null if Java could not write it. */
  readonly hex: string | null;
}

export const GOLDEN_KRYO_FIXTURES = fileURLToPath(new URL('./fixtures-kryo5.json', import.meta.url));

export function readGoldenKryoFixtures(): GoldenKryoFixture[] {
  return JSON.parse(readFileSync(GOLDEN_KRYO_FIXTURES, 'utf8')) as GoldenKryoFixture[];
}

export const GOLDEN_FIXTURES = fileURLToPath(new URL('./fixtures-json.json', import.meta.url));

export function readGoldenFixtures(): GoldenFixture[] {
  return JSON.parse(readFileSync(GOLDEN_FIXTURES, 'utf8')) as GoldenFixture[];
}
