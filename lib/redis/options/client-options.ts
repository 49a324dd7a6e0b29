import { createSecureContext } from 'node:tls';
import type { ClusterOptions, RedisOptions } from 'ioredis';
import { MAX_TIMER_DELAY } from '../../timing/clock.js';

/** The values that an option accepts. Numbers and flags may also be strings, as in a URL. */
export interface OptionKind {
  /** The text after the option's name in error messages. */
  readonly rule: string;
  /** Returns the value as ioredis needs it. Returns undefined or throws if the value is of another kind. */
  readonly read: (value: unknown) => unknown;
  /** True if no string, such as part of a URL, is of this kind. */
  readonly needsOptions?: true;
}

const kind = (rule: string, accepts: (value: unknown) => boolean): OptionKind => ({
  rule,
  read: (value) => (accepts(value) ? value : undefined),
});

const sameOf = (values: readonly unknown[], given: unknown) =>
  values.find((each) => each === given || String(each) === given);

const notInUrls = (rule: string, accepts: (value: unknown) => boolean): OptionKind => ({
  ...kind(rule, accepts),
  needsOptions: true,
});

/** A name or an address only, because ioredis cannot resolve a host with a port or a scheme. */
const hostName = kind(
  'must be the name or the address of a host, without a scheme or a port',
  (value) => typeof value === 'string' && !/^$|^undefined$|\/|^[^:]*:\d*$/.test(value),
);

const text = kind('must be text', (value) => typeof value === 'string');
const object = notInUrls('must be an object', isObject);
const list = notInUrls('must be a list', Array.isArray);
const callback = notInUrls('must be a function', (value) => typeof value === 'function');

const flag: OptionKind = {
  rule: 'must be true or false',
  read: (value) => sameOf([true, false], value),
};

const oneOf = (...values: readonly (string | number)[]): OptionKind => ({
  rule: `must be one of ${values.join(', ')}`,
  read: (value) => sameOf(values, value),
});

const wholeNumber = (min: number, max: number): OptionKind => ({
  rule: `must be a whole number from ${min} to ${max}`,
  read: (value) => {
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
    return Number.isInteger(number) && (number as number) >= min && (number as number) <= max ? number : undefined;
  },
});

const port = wholeNumber(1, 65535);

const sentinelList = notInUrls(
  "must be a list of at least one sentinel, such as [{ host: 'sentinel-1', port: 26379 }]",
  (value) => Array.isArray(value) && value.length > 0 && value.every(isAddress),
);

const addressMap = notInUrls(
  "must be an object that maps 'host:port' to { host, port }, or a function",
  (value) => typeof value === 'function' || (isObject(value) && Object.values(value).every(isAddress)),
);

const tlsOptions: OptionKind = {
  rule: 'must be TLS options of Node.js, or true',
  read: (value) => {
    const on = flag.read(value);
    if (on !== undefined) return on ? {} : false;
    if (typeof value === 'string') return sameOf(['RedisCloudFixed', 'RedisCloudFlexible'], value);
    if (!isObject(value)) return undefined;
    const { servername } = value as { servername?: unknown };
    createSecureContext(value);
    return servername === undefined || typeof servername === 'string' ? value : undefined;
  },
};

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isAddress(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { host = '', port: at = 1 } = value as { readonly host?: unknown; readonly port?: unknown };
  return typeof host === 'string' && port.read(at) !== undefined;
}

export interface OptionProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** How the module treats an ioredis option that an application sets. */
export type OptionRule<Value = unknown> =
  | { readonly fate: 'passed on'; readonly kind: OptionKind }
  /** The module warns, and uses its own value. */
  | { readonly fate: 'overridden'; readonly value: Value; readonly because: string }
  /** Startup fails unless the value is null or listed in `unless`. */
  | { readonly fate: 'refused'; readonly unless: readonly Value[]; readonly because: string };

export type OptionRules = Readonly<Record<string, OptionRule>>;

/** One rule for every option. The compiler checks the rules against the installed ioredis, the newest supported version. */
type RulesFor<Options> = { readonly [Key in keyof Required<Options>]: OptionRule<Options[Key]> };

const milliseconds = wholeNumber(0, MAX_TIMER_DELAY);
const passedOn = (kind: OptionKind) => ({ fate: 'passed on', kind }) as const;
const overridden = <Value>(value: Value, because: string) => ({ fate: 'overridden', value, because }) as const;
const refused = <Value>(unless: readonly Value[], because: string) => ({ fate: 'refused', unless, because }) as const;

/** Maximum pause between attempts to reconnect, ms, so that work resumes soon after Redis is back. */
const MAX_RECONNECT_PAUSE = 1000;
const reconnectPause = (times: number) => Math.min(times * 50, MAX_RECONNECT_PAUSE);

const RECONNECTING = 'the module reconnects on its own, and never gives up';
const ONE_CALL =
  'a command is sent once, and its caller learns at once if it was not sent or if its outcome is unknown';
const SILENCE = 'blocked connections are silent for a long time; offerTimeout and blockTimeout bound every wait';
const REPLIES = 'the module reads the replies itself';
const REDIRECTIONS = 'the module follows redirections itself, until offerTimeout';
const UNUSED = 'the module does not use it';

/** Options that exist for a single server, for a cluster as a whole, and for the nodes of a cluster (`redisOptions`). */
const common = {
  keyPrefix: refused([''], "would not apply to the names of channels: set the module's `prefix` instead"),
  showFriendlyErrorStack: overridden(
    false,
    'recording a stack for each command is slow, and its caller gets a typed error anyway',
  ),
  enableOfflineQueue: overridden(false, ONE_CALL),
  enableReadyCheck: overridden(true, 'a server that is still loading its data refuses commands'),
  lazyConnect: overridden(true, 'connections are opened when the application starts'),
  enableAutoPipelining: overridden(false, 'the module batches calls itself'),
  autoPipeliningIgnoredCommands: passedOn(list),
  scripts: overridden(undefined, UNUSED),
  himportFieldsets: overridden(undefined, UNUSED),
  natMap: passedOn(addressMap),
} as const;

export const redisRules = {
  ...common,

  host: passedOn(hostName),
  port: passedOn(port),
  family: passedOn(oneOf(0, 4, 6)),
  path: passedOn(text),
  tls: passedOn(tlsOptions),
  username: passedOn(text),
  password: passedOn(text),
  db: passedOn(wholeNumber(0, 2 ** 31 - 1)),
  Connector: passedOn(callback),

  sentinels: passedOn(sentinelList),
  name: passedOn(text),
  role: refused(['master'], 'would lead to a replica, which accepts no writes: leave it out'),
  preferredSlaves: overridden(undefined, UNUSED),
  sentinelUsername: passedOn(text),
  sentinelPassword: passedOn(text),
  sentinelTLS: passedOn(tlsOptions),
  enableTLSForSentinelMode: passedOn(flag),
  sentinelCommandTimeout: passedOn(wholeNumber(1, MAX_TIMER_DELAY)),
  sentinelMaxConnections: passedOn(wholeNumber(1, 1000)),
  // For connections that only listen for failovers. Connections for commands notice failovers themselves.
  sentinelReconnectStrategy: passedOn(callback),
  sentinelRetryStrategy: overridden(reconnectPause, RECONNECTING),
  updateSentinels: passedOn(flag),
  failoverDetector: passedOn(flag),

  connectTimeout: passedOn(milliseconds),
  keepAlive: passedOn(milliseconds),
  noDelay: passedOn(flag),
  protocol: passedOn(oneOf(2, 3)),
  clientInfoTag: passedOn(text),
  disableClientInfo: passedOn(flag),
  connectionName: overridden('delay-queue', 'connections are named after their purpose, such as delay-queue:commands'),
  // Longer than a clean close takes. If Redis is gone, ioredis' default of 2 s would keep the socket open after the application has closed.
  disconnectTimeout: overridden(100, 'a closing application would wait for it'),

  retryStrategy: overridden(reconnectPause, RECONNECTING),
  // After a failover, the old primary answers as a replica. A new connection follows the host name to the new primary.
  reconnectOnError: overridden((error: Error) => error.message.startsWith('READONLY'), RECONNECTING),
  maxLoadingRetryTime: overridden(MAX_RECONNECT_PAUSE, RECONNECTING),
  autoResubscribe: overridden(false, 'the module resubscribes by itself'),
  autoResendUnfulfilledCommands: overridden(false, ONE_CALL),
  maxRetriesPerRequest: overridden(0, ONE_CALL),
  offlineQueue: passedOn(flag),
  commandQueue: passedOn(flag),

  commandTimeout: overridden(undefined, SILENCE),
  socketTimeout: overridden(undefined, SILENCE),
  blockingTimeout: overridden(undefined, SILENCE),
  blockingTimeoutGrace: passedOn(milliseconds),

  stringNumbers: overridden(false, REPLIES),
  replyMapping: overridden('legacy', REPLIES),
  monitor: overridden(false, UNUSED),
  readOnly: refused([false], 'would send commands to a replica, which accepts no writes: leave it out'),
} as const satisfies RulesFor<RedisOptions>;

export const clusterNodeRules: OptionRules = {
  ...redisRules,
  db: refused([0, '0'], 'is not possible: the module uses only database 0 of a cluster'),
  sentinels: refused([], 'do not watch clusters: leave them out'),
};

export const clusterRules = {
  ...common,
  redisOptions: passedOn(object),
  dnsLookup: passedOn(callback),
  resolveSrv: passedOn(callback),
  useSRVRecords: passedOn(flag),
  slotsRefreshTimeout: passedOn(wholeNumber(1, MAX_TIMER_DELAY)),
  slotsRefreshInterval: passedOn(milliseconds),
  // These are ioredis' defaults, because ioredis' own `Cluster` sends nothing but the request for the map.
  maxRedirections: overridden(16, REDIRECTIONS),
  retryDelayOnMoved: overridden(0, REDIRECTIONS),
  retryDelayOnTryAgain: overridden(100, REDIRECTIONS),
  retryDelayOnClusterDown: overridden(100, REDIRECTIONS),
  // If the connection breaks, a command may have been carried out: a repeated offer would then find its own id in use.
  retryDelayOnFailover: overridden(0, ONE_CALL),
  clusterRetryStrategy: overridden(reconnectPause, RECONNECTING),
  // ioredis finds a lost node again when it refreshes the slots. If a node's client reconnected by itself, its loss would go unnoticed.
  clusterNodeRetryStrategy: overridden(null, RECONNECTING),
  scaleReads: overridden('master', 'replicas lag behind, and the scripts run on the primary'),
  shardedSubscribers: overridden(false, UNUSED),
} as const satisfies RulesFor<ClusterOptions>;
