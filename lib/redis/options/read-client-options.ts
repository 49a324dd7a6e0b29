import type { ClusterOptions, RedisOptions } from 'ioredis';
import { nearestNames } from '../../message/nearest-name.js';
import { kindOf } from '../../message/show-given.js';
import {
  clusterNodeRules,
  clusterRules,
  type OptionKind,
  type OptionProblem,
  type OptionRules,
  redisRules,
} from './client-options.js';

export interface OverriddenOption {
  readonly name: string;
  readonly because: string;
}

type Path = readonly string[];

const ODD_NAME =
  'must contain only options of ioredis; the unknown name is not shown, because it may be part of a password';

/** The values that the module always sets, for each level. */
export const redisOverrides = overridesOf(redisRules) as RedisOptions;
export const clusterOverrides = overridesOf(clusterRules) as ClusterOptions;

/** Reads an application's ioredis options, and collects problems and overridden options. */
export class ClientOptionsReader {
  readonly problems: OptionProblem[] = [];
  readonly overridden: OverriddenOption[] = [];

  /** @param source - `client` if ioredis may have read the options from a URL */
  constructor(private readonly source: 'options' | 'client' = 'options') {}

  readRedis(given: unknown): RedisOptions {
    const values = this.#readOptionsOrUrl(redisRules, given, []);
    if (!values.sentinels) return values;
    // An application's own connector may not need a name to find the primary.
    if (!values.name && !values.Connector)
      this.#refuse(['sentinels'], 'need the name of the primary that they watch: set `name`');
    // Without this, a former primary accepts offers that are then lost, for about ten seconds until it learns of its successor.
    return { failoverDetector: true, ...values };
  }

  /** Reads the options of a `Cluster`, including those of its connections. */
  readCluster(given: unknown, path: Path = []): ClusterOptions {
    const values = this.#read<ClusterOptions>(clusterRules, given ?? {}, path);
    const { redisOptions = {} } = values;
    return {
      ...values,
      redisOptions: this.#readOptionsOrUrl(clusterNodeRules, redisOptions, [...path, 'redisOptions']),
    };
  }

  /** Reads a cluster node: a URL, `host:port`, a port, or connection options. */
  readClusterNode(given: unknown, path: Path): RedisOptions {
    if (typeof given === 'number') return this.#read(clusterNodeRules, { port: given }, path);
    const isAddress = typeof given === 'string' && !given.includes('://');
    return this.#readOptionsOrUrl(clusterNodeRules, isAddress ? `redis://${given}` : given, path);
  }

  #readOptionsOrUrl(rules: OptionRules, given: unknown, path: Path): RedisOptions {
    if (typeof given !== 'string') return this.#read(rules, given, path);
    const url = parseRedisUrl(given);
    return 'problem' in url ? this.#refuse(path, url.problem) : this.#read(rules, url.options, path);
  }

  #read<Options>(rules: OptionRules, given: unknown, path: Path): Options {
    const fields = attempt(() =>
      typeof given === 'object' && given && !Array.isArray(given) ? Object.entries(given) : undefined,
    );
    if (!fields) return this.#refuse(path, `must be an options object such as { host, port }, not ${kindOf(given)}`);
    // If a URL was split in the wrong place, parts of a password appear as option names.
    if (fields.some(([name]) => !/^\w+$/.test(name))) return this.#refuse(path, ODD_NAME);
    const values = fields
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, this.#readOption(rules, value, [...path, name])]);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Options;
  }

  /** @returns undefined if the option is not passed on */
  #readOption(rules: OptionRules, value: unknown, path: Path): unknown {
    const name = path.at(-1)!;
    const rule = Object.hasOwn(rules, name) ? rules[name]! : undefined;
    switch (rule?.fate) {
      case 'passed on': {
        const read = attempt(() => rule.kind.read(value));
        if (read === undefined) this.#refuse(path, describeMismatch(rule.kind, value));
        return read;
      }
      case 'overridden':
        if (!isSame(value, rule.value)) this.overridden.push({ name: path.join('.'), because: rule.because });
        return undefined;
      case 'refused':
        if (!rule.unless.includes(value)) this.#refuse(path, rule.because);
        return undefined;
      default:
        if (this.#mayBeSecret(rules, name, value)) this.#refuse(path.slice(0, -1), ODD_NAME);
        else this.#refuse(path, `is not an option of ioredis; ${adviceOn(name, rules)}`);
        return undefined;
    }
  }

  /** True if the name may be part of a password: if a password in a URL contains an unencoded `?`, ioredis reads the rest as options. */
  #mayBeSecret(rules: OptionRules, name: string, value: unknown): boolean {
    return this.source === 'client' && typeof value === 'string' && nearestNames(name, Object.keys(rules)).length === 0;
  }

  #refuse<Options>(path: Path, message: string): Options {
    this.problems.push({ path, message });
    return {} as Options;
  }
}

/** Advice on option names used by other clients. */
const SYNONYMS: Readonly<Record<string, string>> = {
  hostname: 'use host',
  user: 'use username',
  pass: 'use password',
  auth: 'use username and password',
  database: 'use db',
  ssl: 'use tls',
  socket: 'give host, port and tls without it',
  url: 'give the URL itself as `connection`',
  uri: 'give the URL itself as `connection`',
  sentinel: 'use sentinels',
  masterName: 'use name',
  nodes: 'for a cluster, give { cluster: { nodes } }',
  rootNodes: 'for a cluster, give { cluster: { nodes } }',
};

function adviceOn(name: string, rules: OptionRules): string {
  const synonym = Object.hasOwn(SYNONYMS, name) ? SYNONYMS[name] : undefined;
  const [nearest] = nearestNames(name, Object.keys(rules));
  return synonym ?? (nearest === undefined ? 'check its spelling' : `did you mean ${nearest}?`);
}

/** Describes a value of the wrong kind without showing it, because it may be a password. */
function describeMismatch({ rule, needsOptions }: OptionKind, value: unknown): string {
  if (value === '' || value === 'undefined')
    return `${rule}, not ${kindOf(value)}: is an environment variable not set?`;
  if (typeof value !== 'string') return `${rule}, not ${kindOf(value).replace(/^an (array|object)$/, 'this $1')}`;
  return `${rule}, not this text${needsOptions ? ': give ioredis options instead of a URL' : ''}`;
}

/** Returns undefined if a getter or a proxy in the options throws. */
function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** True for equal values. Also compares with the own value as a string, because a flag in a URL is one. */
const isSame = (given: unknown, own: unknown) => given === (own ?? undefined) || given === String(own);

function overridesOf(rules: OptionRules): Record<string, unknown> {
  const overridden = Object.entries(rules).flatMap(([name, rule]) =>
    rule.fate === 'overridden' ? [[name, rule.value]] : [],
  );
  return Object.fromEntries(overridden) as Record<string, unknown>;
}

const UNREADABLE =
  'is not a valid URL: percent-encode special characters in the user name and the password, such as # as %23, ' +
  '/ as %2F, @ as %40 and % as %25, and use a port from 1 to 65535';

const UNSET = 'is not a URL: is an environment variable in it not set?';

/** Matches if the host, the port or the database, but not the password, is `undefined`, the value of an unset variable. */
const UNSET_PART = /^rediss?:\/\/(.*@)?([^/@]*[:/])?undefined($|[:/?])/;

/** A password in the query would be cut at its first `&`, and an error would show the rest as an unknown option. */
const PASSWORD_IN_QUERY =
  'must have the password before the host, percent-encoded: redis://user:password@host, or be given as options';

/**
 * Reads `redis[s]://user:password@host:port/db?option=value`. Other parts of the URL override the query. Problems do not quote the URL,
 * because it may contain a password.
 */
function parseRedisUrl(text: string): { readonly options: object } | { readonly problem: string } {
  if (text === '' || text === 'undefined') return { problem: UNSET };
  if (!/^rediss?:\/\//.test(text)) {
    return { problem: 'must start with redis:// or rediss://, as in redis://127.0.0.1:6379' };
  }
  if (UNSET_PART.test(text)) return { problem: UNSET };
  let url: URL;
  let username: string, password: string, host: string;
  try {
    url = new URL(text);
    username = decodeURIComponent(url.username);
    password = decodeURIComponent(url.password);
    host = decodeURIComponent(url.hostname);
  } catch {
    return { problem: UNREADABLE };
  }
  if ([...url.searchParams.keys()].some((name) => /pass/i.test(name))) return { problem: PASSWORD_IN_QUERY };
  // This is the rest of a password that was cut at its `/`, `?` or `#`. An error would show it as an unknown option.
  if (url.hash !== '' || (url.pathname + url.search).includes('@')) return { problem: UNREADABLE };
  const options = {
    ...Object.fromEntries(url.searchParams),
    ...(url.protocol === 'rediss:' && { tls: {} }),
    ...((username || password) && { username, password }),
    ...(host && { host: host.replace(/^\[|\]$/g, '') }),
    ...(url.port && { port: url.port }),
    ...(url.pathname.length > 1 && { db: url.pathname.slice(1) }),
  };
  return { options };
}
