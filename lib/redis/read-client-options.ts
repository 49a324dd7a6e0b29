import type { ClusterOptions, RedisOptions } from 'ioredis';
import { clusterNodeRules, clusterRules, type OptionRules, redisRules } from './client-options.js';
import type { OptionKind } from './option-kinds.js';
import { parseRedisUrl } from './redis-url.js';

export interface OptionProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** An option that the application set and the module overrides. */
export interface OverriddenOption {
  readonly name: string;
  readonly because: string;
}

/** The application's options for one client. */
export interface ReadOptions<Options> {
  readonly values: Options;
  readonly problems: readonly OptionProblem[];
  readonly overridden: readonly OverriddenOption[];
}

const ODD_NAME =
  'must contain only options of ioredis; the unknown name is not shown, because it may be part of a password';

/** The values that the module sets whatever the application gives, by level. */
export const redisOverrides = overridesOf(redisRules) as RedisOptions;
export const clusterOverrides = overridesOf(clusterRules) as ClusterOptions;

/** Reads the options of a `Redis`, given as options or as a URL. */
export function readRedisOptions(given: unknown): ReadOptions<RedisOptions> {
  const read = readOptions(redisRules, given);
  return read.values.sentinels ? withSentinels(read) : read;
}

function withSentinels({ values, problems, overridden }: ReadOptions<RedisOptions>): ReadOptions<RedisOptions> {
  const unnamed = { path: ['sentinels'], message: 'need the name of the primary that they watch: set `name`' };
  // A connector of the application's own may find the primary without a name.
  const isUnnamed = !values.name && !values.Connector;
  return {
    // A former primary that has not heard of its successor accepts offers for about ten seconds, which are lost.
    values: { failoverDetector: true, ...values },
    problems: isUnnamed ? [...problems, unnamed] : problems,
    overridden,
  };
}

/** Reads the options of a `Cluster`, including those of its connections. */
export function readClusterOptions(given: unknown): ReadOptions<ClusterOptions> {
  const own = read<ClusterOptions>(clusterRules, given ?? {});
  const { redisOptions } = own.values;
  const inner = under(['redisOptions'], readOptions(clusterNodeRules, redisOptions ?? {}));
  return {
    values: { ...own.values, redisOptions: inner.values },
    problems: [...own.problems, ...inner.problems],
    overridden: [...own.overridden, ...inner.overridden],
  };
}

/** Reads a node of a cluster: a URL, `host:port`, a port, or the options of a connection. */
export function readClusterNode(given: unknown): ReadOptions<RedisOptions> {
  if (typeof given === 'number') return read(clusterNodeRules, { port: given });
  const isAddress = typeof given === 'string' && !given.includes('://');
  return readOptions(clusterNodeRules, isAddress ? `redis://${given}` : given);
}

/** Adds the path at which these options were given to their problems and names. */
export function under<Options>(path: readonly string[], { values, problems, overridden }: ReadOptions<Options>) {
  return {
    values,
    problems: problems.map((problem) => ({ ...problem, path: [...path, ...problem.path] })),
    overridden: overridden.map((each) => ({ ...each, name: [...path, each.name].join('.') })),
  };
}

function readOptions(rules: OptionRules, given: unknown): ReadOptions<RedisOptions> {
  if (typeof given !== 'string') return read(rules, given);
  const url = parseRedisUrl(given);
  return 'problem' in url ? failed(url.problem) : read(rules, url.options);
}

function read<Options>(rules: OptionRules, given: unknown): ReadOptions<Options> {
  const fields = fieldsOf(given);
  if (!fields) return failed('must be an options object');
  const values: Record<string, unknown> = {};
  const problems: OptionProblem[] = [];
  const overridden: OverriddenOption[] = [];
  // If a URL was split in the wrong place, parts of a password take the place of names.
  if (fields.some(([name]) => !/^\w+$/.test(name))) return failed(ODD_NAME);
  for (const [name, value] of fields) {
    if (value === undefined || value === null) continue;
    const refuse = (message: string) => problems.push({ path: [name], message });
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (!rule) {
      refuse('is not an option of ioredis; check its spelling');
    } else if (rule.fate === 'refused') {
      if (!rule.unless.includes(value)) refuse(rule.because);
    } else if (rule.fate === 'overridden') {
      if (!isSame(value, rule.value)) overridden.push({ name, because: rule.because });
    } else {
      values[name] = readValue(rule.kind, value);
      if (values[name] === undefined) refuse(rule.kind.rule);
    }
  }
  return { values: values as Options, problems, overridden };
}

/** @returns undefined if it is not an object, or cannot be read */
function fieldsOf(given: unknown): [string, unknown][] | undefined {
  try {
    return typeof given === 'object' && given !== null && !Array.isArray(given) ? Object.entries(given) : undefined;
  } catch {
    return undefined;
  }
}

function readValue(kind: OptionKind, value: unknown): unknown {
  try {
    return kind.read(value);
  } catch {
    return undefined;
  }
}

function failed<Options>(message: string): ReadOptions<Options> {
  return { values: {} as Options, problems: [{ path: [], message }], overridden: [] };
}

/** Also compares with text, because a flag in a URL is text. */
const isSame = (given: unknown, own: unknown) => (given ?? undefined) === (own ?? undefined) || given === String(own);

function overridesOf(rules: OptionRules): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(rules).flatMap(([name, rule]) => (rule.fate === 'overridden' ? [[name, rule.value]] : [])),
  );
}
