import type { ClusterOptions, RedisOptions } from 'ioredis';
import { clusterRules, type OptionRules, redisRules } from './client-options.js';
import { parseRedisUrl } from './redis-url.js';

export interface OptionProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** What an application set, and the module does not follow. */
export interface OverriddenOption {
  readonly name: string;
  readonly because: string;
}

/** The options of one client, as far as they are the application's. */
export interface ReadOptions<Options> {
  readonly values: Options;
  readonly problems: readonly OptionProblem[];
  readonly overridden: readonly OverriddenOption[];
}

type Given = Readonly<Record<string, unknown>>;

/** What the module sets whatever the application wants, by level. */
export const redisOverrides = overridesOf(redisRules) as RedisOptions;
export const clusterOverrides = overridesOf(clusterRules) as ClusterOptions;

/** Reads the options of a `Redis`, given as such or as a URL. */
export function readRedisOptions(given: unknown): ReadOptions<RedisOptions> {
  if (typeof given !== 'string') return read(redisRules, given);
  const url = parseRedisUrl(given);
  return 'problem' in url ? failed(url.problem) : read(redisRules, url.options);
}

/** Reads the options of a `Cluster`, those of its connections included. */
export function readClusterOptions(given: unknown): ReadOptions<ClusterOptions> {
  const own = read<ClusterOptions>(clusterRules, given ?? {});
  const { redisOptions } = own.values;
  const inner = under(['redisOptions'], readRedisOptions(redisOptions ?? {}));
  return {
    values: { ...own.values, redisOptions: inner.values },
    problems: [...own.problems, ...inner.problems],
    overridden: [...own.overridden, ...inner.overridden],
  };
}

/** Reads where a cluster is: as URL, as `host:port`, as a port, or as options of that one connection. */
export function readClusterNode(given: unknown): ReadOptions<RedisOptions> {
  if (typeof given === 'number') return read(redisRules, { port: given });
  if (typeof given === 'string' && !given.includes('://')) return readRedisOptions(`redis://${given}`);
  return readRedisOptions(given);
}

/** The same, of what is in a part of the options. */
export function under<Options>(path: readonly string[], { values, problems, overridden }: ReadOptions<Options>) {
  return {
    values,
    problems: problems.map((problem) => ({ ...problem, path: [...path, ...problem.path] })),
    overridden: overridden.map((each) => ({ ...each, name: [...path, each.name].join('.') })),
  };
}

function read<Options>(rules: OptionRules, given: unknown): ReadOptions<Options> {
  if (typeof given !== 'object' || given === null) return failed('must be an object of options');
  const values: Record<string, unknown> = {};
  const problems: OptionProblem[] = [];
  const overridden: OverriddenOption[] = [];
  for (const [name, value] of Object.entries(given as Given)) {
    if (value === undefined) continue;
    const refuse = (message: string) => problems.push({ path: [name], message });
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (!rule) {
      refuse('is not an option of ioredis; check its spelling');
    } else if (rule.fate === 'refused') {
      if (value !== null && !rule.unless.includes(value)) refuse(rule.because);
    } else if (rule.fate === 'overridden') {
      if (!isSame(value, rule.value)) overridden.push({ name, because: rule.because });
    } else {
      values[name] = value === null ? null : rule.kind.read(value);
      if (values[name] === undefined) refuse(rule.kind.rule);
    }
  }
  return { values: values as Options, problems, overridden };
}

function failed<Options>(message: string): ReadOptions<Options> {
  return { values: {} as Options, problems: [{ path: [], message }], overridden: [] };
}

/** A flag in a URL is text. */
const isSame = (given: unknown, own: unknown) => (given ?? undefined) === (own ?? undefined) || given === String(own);

function overridesOf(rules: OptionRules): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(rules).flatMap(([name, rule]) => (rule.fate === 'overridden' ? [[name, rule.value]] : [])),
  );
}
