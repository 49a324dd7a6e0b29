import type { ClusterOptions, RedisOptions } from 'ioredis';
import {
  addressMap,
  callback,
  flag,
  list,
  LONGEST_TIMER,
  object,
  oneOf,
  type OptionKind,
  sentinelList,
  text,
  tlsOptions,
  wholeNumber,
} from './option-kinds.js';

/** What becomes of an option of ioredis that an application sets. */
export type OptionRule<Value = unknown> =
  | { readonly fate: 'passed on'; readonly kind: OptionKind }
  /** The module's value holds; the application is told. */
  | { readonly fate: 'overridden'; readonly value: Value; readonly because: string }
  /** The start-up fails, unless it is one of these values, or null. */
  | { readonly fate: 'refused'; readonly unless: readonly Value[]; readonly because: string };

export type OptionRules = Readonly<Record<string, OptionRule>>;

/** A rule for every option, as the compiler checks with the installed ioredis: the newest that is supported. */
type RulesFor<Options> = { readonly [Key in keyof Required<Options>]: OptionRule<Options[Key]> };

const passedOn = (kind: OptionKind) => ({ fate: 'passed on', kind }) as const;
const overridden = <Value>(value: Value, because: string) => ({ fate: 'overridden', value, because }) as const;
const refused = <Value>(unless: readonly Value[], because: string) => ({ fate: 'refused', unless, because }) as const;

/** The longest pause between two attempts to reconnect, so that work goes on soon after Redis is back. */
const LONGEST_RECONNECT_PAUSE = 1000;
const reconnectPause = (times: number) => Math.min(times * 50, LONGEST_RECONNECT_PAUSE);

const RECONNECTING = 'the module reconnects by itself, and never gives up';
const ONE_CALL =
  'a command is sent once, and its caller learns at once that it was not sent, or that its outcome is unknown';
const SILENCE = 'connections that wait are silent for long; offerTimeout and blockTimeout bound all waiting';
const REPLIES = 'the module reads the replies itself';
const UNUSED = 'the module would not use it';

/** Of both levels of options of a cluster, and of a single server. */
const common = {
  keyPrefix: refused([''], "would not reach the channel names: set the module's `prefix` instead"),
  showFriendlyErrorStack: overridden(false, 'a stack for each command is slow, and its caller gets a typed error'),
  enableOfflineQueue: overridden(false, ONE_CALL),
  enableReadyCheck: overridden(true, 'a server that still loads its data refuses commands'),
  lazyConnect: overridden(true, 'connections are opened when the application is up'),
  enableAutoPipelining: overridden(false, 'the module already sends together what belongs together'),
  autoPipeliningIgnoredCommands: passedOn(list),
  scripts: overridden(undefined, UNUSED),
  himportFieldsets: overridden(undefined, UNUSED),
  natMap: passedOn(addressMap),
} as const;

/** What becomes of each option of a `Redis`. */
export const redisRules = {
  ...common,

  // Where the server is, and who asks.
  host: passedOn(text),
  port: passedOn(wholeNumber(1, 65535)),
  family: passedOn(oneOf(0, 4, 6)),
  path: passedOn(text),
  tls: passedOn(tlsOptions),
  username: passedOn(text),
  password: passedOn(text),
  db: passedOn(wholeNumber(0, 2 ** 31 - 1)),
  Connector: passedOn(callback),

  // Sentinels.
  sentinels: passedOn(sentinelList),
  name: passedOn(text),
  role: refused(['master'], 'would lead to a replica, which takes no writes: leave it out'),
  preferredSlaves: overridden(undefined, UNUSED),
  sentinelUsername: passedOn(text),
  sentinelPassword: passedOn(text),
  sentinelTLS: passedOn(tlsOptions),
  enableTLSForSentinelMode: passedOn(flag),
  sentinelCommandTimeout: passedOn(wholeNumber(1, LONGEST_TIMER)),
  sentinelMaxConnections: passedOn(wholeNumber(1, 1000)),
  // Of the connections that only listen for failovers; the commands find out by themselves.
  sentinelReconnectStrategy: passedOn(callback),
  sentinelRetryStrategy: overridden(reconnectPause, RECONNECTING),
  updateSentinels: passedOn(flag),
  failoverDetector: passedOn(flag),

  // The socket, and the name of the connection.
  connectTimeout: passedOn(wholeNumber(0, LONGEST_TIMER)),
  keepAlive: passedOn(wholeNumber(0, LONGEST_TIMER)),
  noDelay: passedOn(flag),
  protocol: passedOn(oneOf(2, 3)),
  clientInfoTag: passedOn(text),
  disableClientInfo: passedOn(flag),
  connectionName: overridden(
    'delay-queue',
    'connections are named after what they are for, such as delay-queue:commands',
  ),
  // Longer than a goodbye takes; ioredis' own 2 s would outlive a closed application whose Redis is gone.
  disconnectTimeout: overridden(100, 'an application that closes would wait for it'),

  // What is done when the connection is lost.
  retryStrategy: overridden(reconnectPause, RECONNECTING),
  // After a failover the old primary answers as a replica: connect anew, wherever the name leads now.
  reconnectOnError: overridden((error: Error) => error.message.startsWith('READONLY'), RECONNECTING),
  maxLoadingRetryTime: overridden(LONGEST_RECONNECT_PAUSE, RECONNECTING),
  autoResubscribe: overridden(false, 'the module subscribes anew by itself'),
  autoResendUnfulfilledCommands: overridden(false, ONE_CALL),
  maxRetriesPerRequest: overridden(0, ONE_CALL),
  offlineQueue: passedOn(flag),
  commandQueue: passedOn(flag),

  // How long an answer may take.
  commandTimeout: overridden(undefined, SILENCE),
  socketTimeout: overridden(undefined, SILENCE),
  blockingTimeout: overridden(undefined, SILENCE),
  blockingTimeoutGrace: passedOn(wholeNumber(0, LONGEST_TIMER)),

  // What the answers are like.
  stringNumbers: overridden(false, REPLIES),
  replyMapping: overridden('legacy', REPLIES),
  monitor: overridden(false, UNUSED),
  readOnly: refused([false], 'would send commands to a replica, which takes no writes: leave it out'),
} as const satisfies RulesFor<RedisOptions>;

/** What becomes of each option of a connection of a `Cluster`. */
export const clusterNodeRules: OptionRules = {
  ...redisRules,
  db: refused([0, '0'], 'does not exist: a cluster has database 0 only'),
};

/** What becomes of each option of a `Cluster`. */
export const clusterRules = {
  ...common,
  redisOptions: passedOn(object),
  dnsLookup: passedOn(callback),
  resolveSrv: passedOn(callback),
  useSRVRecords: passedOn(flag),
  slotsRefreshTimeout: passedOn(wholeNumber(1, LONGEST_TIMER)),
  slotsRefreshInterval: passedOn(wholeNumber(0, LONGEST_TIMER)),
  maxRedirections: passedOn(wholeNumber(1, 1000)),
  retryDelayOnMoved: passedOn(wholeNumber(0, LONGEST_TIMER)),
  retryDelayOnTryAgain: passedOn(wholeNumber(0, LONGEST_TIMER)),
  retryDelayOnClusterDown: passedOn(wholeNumber(0, LONGEST_TIMER)),
  // What was under way when a connection broke may have been carried out: sent again, an offer would find itself.
  retryDelayOnFailover: overridden(0, ONE_CALL),
  clusterRetryStrategy: overridden(reconnectPause, RECONNECTING),
  // A lost node is found again with the slots; one that reconnects by itself would hide that it is away.
  clusterNodeRetryStrategy: overridden(null, RECONNECTING),
  scaleReads: overridden('master', 'replicas lag behind, and the scripts run on the primary'),
  shardedSubscribers: overridden(false, 'announcements come by channels that are not sharded'),
} as const satisfies RulesFor<ClusterOptions>;
