import type { RedissonLine } from './java-build.js';
import { FIXTURE_CLASSES } from './fixture-classes.js';
import type { FixtureCodec } from './java-peer.js';
import { jackson, type JavaClasses, json, type PayloadCodec } from '../../src/index.js';

/** The codecs of fixtures that write JSON. */
export type JsonFixtureCodec = Exclude<FixtureCodec, 'kryo5'>;

/** The codecs of a line of Redisson. */
export function fixtureCodecsOf(line: RedissonLine): readonly JsonFixtureCodec[] {
  return line === '4' ? ['json', 'jackson', 'json of Jackson 3', 'jackson of Jackson 3'] : ['json', 'jackson'];
}

/** Our codec for one of Redisson's: with the fixtures' classes declared, and without. */
export function ourCodecs(
  codec: JsonFixtureCodec,
  line: RedissonLine,
): Record<'declared' | 'undeclared', PayloadCodec> {
  const version = codec.endsWith('Jackson 3') ? 3 : 2;
  if (codec.startsWith('json')) {
    return { declared: json({ jackson: version, numbers: 'exact' }), undeclared: json({ jackson: version }) };
  }
  const withClasses = (classes: JavaClasses) =>
    jackson({ jackson: version, classes, uuids: line === '4' ? 'typed' : 'text' });
  return { declared: withClasses(FIXTURE_CLASSES), undeclared: withClasses({}) };
}

/** A deep copy, as an application makes it: of it nothing is remembered. */
export function copyOf(payload: unknown): unknown {
  if (Array.isArray(payload)) return payload.map(copyOf);
  if (typeof payload !== 'object' || payload === null || Object.getPrototypeOf(payload) !== Object.prototype)
    return payload;
  return Object.fromEntries(Object.entries(payload).map(([key, value]) => [key, copyOf(value)]));
}

/**
 * Fixtures whose copies become others to Java: places that admit several classes get the usual one (ArrayList, HashSet,
 * LinkedHashMap), and a whole number becomes an Integer where Java had a Double.
 */
export const CHANGED_BY_COPYING: ReadonlySet<string> = new Set([
  'enums',
  'maps',
  'objects',
  'loose types',
  'a list',
  'a map',
  'a list of orders',
]);
