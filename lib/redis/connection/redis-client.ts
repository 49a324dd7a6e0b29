import { type Callback, Cluster, Redis, type RedisOptions } from 'ioredis';
import { DelayQueueError } from '../../message/delay-queue-errors.js';
import { isStrayPromise, showFailure } from '../../message/failure.js';
import { kindOf } from '../../message/show-given.js';
import type { OptionProblem } from '../options/client-options.js';
import {
  type ClusterConnection,
  type ConnectionFactory,
  type ConnectionOptions,
  isCluster,
} from '../options/connection-options.js';
import { ClientOptionsReader, clusterOverrides, redisOverrides } from '../options/read-client-options.js';
import { isErrorReply, lacksPermission, unknownCommand, withoutHost, withoutSecrets } from '../redis-errors.js';
import type { Events } from '../../events/events.js';

export type RedisClient = Redis | Cluster;

/** What a connection is for. Part of its name in `CLIENT LIST`. */
export type ConnectionRole = 'commands' | 'producer' | 'announcements' | 'wake-signals';

/** Returns the number of the database that a client uses. Of a cluster, the module uses only database 0. */
export function databaseOf(client: RedisClient): number {
  if (client.isCluster) return 0;
  const { condition, options } = client as Redis;
  // A client made by an application's function may later have selected another database.
  return condition?.select ?? options.db ?? 0;
}

/** Finds problems and overridden options in a connection's options. Those of a function are unknown until it has created a client. */
export function examineConnection(connection: ConnectionOptions): Pick<ClientOptionsReader, 'problems' | 'overridden'> {
  const reader = new ClientOptionsReader();
  if (isCluster(connection)) readCluster(connection, reader);
  else if (typeof connection !== 'function') reader.readRedis(connection);
  return reader;
}

/**
 * Creates an unconnected client from checked options. The client neither queues nor repeats commands: the sender learns at once that a
 * command was not sent, or that its outcome is unknown, and decides what to do.
 * @throws DelayQueueError `INVALID_OPTION`
 */
export function createClient(connection: ConnectionOptions, role: ConnectionRole): RedisClient {
  const overrides = { ...redisOverrides, connectionName: `delay-queue:${role}` };
  if (typeof connection === 'function') return fromFactory(connection, overrides);
  const reader = new ClientOptionsReader();
  try {
    if (!isCluster(connection)) return new Redis({ ...reader.readRedis(connection), ...overrides });
    const { nodes, options } = readCluster(connection, reader);
    const redisOptions = { ...loginOf(nodes[0]), ...options.redisOptions, ...overrides };
    return new Cluster(nodes, { ...options, ...clusterOverrides, redisOptions });
  } catch (error) {
    throw new DelayQueueError('INVALID_OPTION', `connection: ioredis does not accept it: ${(error as Error).message}`);
  }
}

function readCluster({ cluster }: ClusterConnection, reader: ClientOptionsReader) {
  return {
    nodes: cluster.nodes.map((node, i) => reader.readClusterNode(node, ['cluster', 'nodes', String(i)])),
    options: reader.readCluster(cluster.options, ['cluster', 'options']),
  };
}

/** Returns the first node's login, for all nodes: ioredis omits it for nodes that the cluster lists under another address. */
function loginOf({ username, password, tls }: RedisOptions = {}): RedisOptions {
  return { ...(password !== undefined && { username, password }), ...(tls && { tls }) };
}

/**
 * Rejects a client that may be shared, because the module subscribes with its clients, blocks on them and closes them. A client that has
 * not connected yet, as the overrides require, cannot be in use elsewhere.
 */
function fromFactory(factory: ConnectionFactory, overrides: RedisOptions): RedisClient {
  const client = callFactory(factory, { ...clusterOverrides, ...overrides });
  if (isStrayPromise(client) || (client as RedisClient | undefined)?.status !== 'wait') {
    const rule = 'must return a new ioredis client for each call, created with the given overrides';
    throw misused(`${rule}, not ${describeReturned(client)}`);
  }
  const ignored = client.isCluster
    ? [
        ...notInForce(clusterOverrides, client.options),
        ...notInForce(overrides, (client as Cluster).options.redisOptions ?? {}),
      ]
    : notInForce(overrides, client.options);
  if (ignored.length > 0)
    throw misused(`must apply the given overrides last, but its client has its own ${ignored.join(', ')}`);
  const problems = client.isCluster ? problemsOfCluster(client as Cluster) : problemsOfRedis(client as Redis);
  const described = problems.map(({ path, message }) => `${path.join('.') || 'options'} ${message}`);
  if (problems.length > 0) throw misused(`creates a client whose ${described.join('; ')}`);
  // If the password in a URL contains an unencoded `@`, ioredis mistakes part of the password for the host.
  client.on('error', withoutHost);
  return client;
}

function describeReturned(given: unknown): string {
  const { status } = (typeof given === 'object' && given !== null ? given : {}) as Partial<RedisClient>;
  return typeof status === 'string' ? `one that is in use (its status is '${status}')` : kindOf(given);
}

/** Removes secrets from errors: for an unreadable URL, ioredis throws an error that contains the URL, including its password. */
function callFactory(factory: ConnectionFactory, overrides: RedisOptions): RedisClient {
  try {
    return factory(overrides);
  } catch (error) {
    throw new DelayQueueError('INVALID_OPTION', `connection: the function failed: ${showFailure(error)}`, {
      cause: withoutSecrets(error),
    });
  }
}

function problemsOfCluster({ options }: Cluster): readonly OptionProblem[] {
  const reader = new ClientOptionsReader();
  reader.readCluster({ ...ownOptions(options), redisOptions: ownOptions(options.redisOptions ?? {}) });
  return reader.problems;
}

function problemsOfRedis({ options }: Redis): readonly OptionProblem[] {
  const reader = new ClientOptionsReader('client');
  const own = ownOptions(options);
  const read = reader.readRedis(own) as Readonly<Record<string, unknown>>;
  // ioredis leaves numbers and flags in a URL's query as strings, and fails later.
  const isLeftAsText = ([name, value]: [string, unknown]) =>
    typeof value === 'string' && name in read && typeof read[name] !== 'string';
  const message = 'is left as text by ioredis: set it as an option instead of in the URL';
  const leftAsText = Object.entries(own).filter(isLeftAsText);
  return [...reader.problems, ...leftAsText.map(([name]) => ({ path: [name], message }))];
}

/** Returns the options without the overrides of either level: a function gets both, because it may create either kind of client. */
function ownOptions(options: object): object {
  const isOwn = ([name]: [string, unknown]) => !(name in clusterOverrides || name in redisOverrides);
  return Object.fromEntries(Object.entries(options).filter(isOwn));
}

function notInForce(overrides: object, options: object): string[] {
  const inForce = options as Readonly<Record<string, unknown>>;
  const isIgnored = ([name, value]: [string, unknown]) => (inForce[name] ?? undefined) !== (value ?? undefined);
  return Object.entries(overrides)
    .filter(isIgnored)
    .map(([name]) => name);
}

function misused(problem: string): DelayQueueError {
  return new DelayQueueError(
    'INVALID_OPTION',
    `connection: the function ${problem}: (overrides) => new Redis({ ...yours, ...overrides }), ` +
      'or new Cluster(nodes, { ...yours, ...overrides, redisOptions: { ...yours, ...overrides } })',
  );
}

type SendInfo = (callback?: Callback<string>) => Promise<string>;
type SendHello = (...words: unknown[]) => Promise<unknown>;
type SendAuth = (login: string | readonly string[], callback?: Callback<'OK'>) => Promise<'OK'>;

/** Replies about a login that the server ignores. ioredis does not fail on them, but writes them to the console, bypassing the logger. */
const IGNORED_LOGIN =
  /no password is set|without any password configured for the default user|wrong number of arguments for 'auth'/;

/**
 * Lets a client become ready on a server that refuses part of ioredis' handshake. Otherwise ioredis would write some of the errors to the
 * console, bypassing the logger, and others would keep the client from becoming ready.
 */
export function tolerateRefusedGreeting(client: RedisClient, events: Events): void {
  if (client.isCluster) {
    client.on('+node', (node: Redis) => tolerateRefusedGreeting(node, events));
    return;
  }
  client.info = withoutInfo(client.info.bind(client)) as typeof client.info;
  client.auth = withIgnoredLogin(client.auth.bind(client) as SendAuth, events) as typeof client.auth;
  client.hello = withLoginCheck(client as Redis, events) as typeof client.hello;
}

/** Continues if the user may not send `INFO`, which ioredis uses to wait for a server that is still loading its data. */
function withoutInfo(sendInfo: SendInfo): SendInfo {
  return (callback) =>
    // Only ioredis passes a callback.
    callback === undefined
      ? sendInfo()
      : sendInfo((error, info) => {
          if (lacksPermission(error) || unknownCommand(error) !== undefined) callback(null, '');
          else callback(error, info);
        });
}

/**
 * Logs in again with AUTH, because ioredis 6 uses HELLO, which accepts any password for a user who has none. Only AUTH reports that, and
 * only if it gets the password alone, which means the user `default`.
 */
function withLoginCheck(client: Redis, events: Events): SendHello {
  const sendHello = client.hello.bind(client) as SendHello;
  return async (...words) => {
    const answer = await sendHello(...words);
    const [, word, user, password] = words.flat();
    // HELLO has accepted the password. The following commands report any other failure.
    if (word === 'AUTH' && user === 'default' && !events.hasNotedOnce('login-ignored'))
      client.auth(password as string).catch(() => undefined);
    return answer;
  };
}

/** Emits an event, once, if the server says that it ignores the given login. */
function withIgnoredLogin(sendAuth: SendAuth, events: Events): SendAuth {
  const isIgnored = (error: unknown) => {
    if (!isErrorReply(error) || !IGNORED_LOGIN.test(error.message)) return false;
    events.noteOnce('login-ignored', { reason: error.message });
    return true;
  };
  // ioredis 5 gives a callback, ioredis 6 awaits the promise.
  return (login, callback) => {
    // With the user's name, AUTH would accept any password.
    const words = Array.isArray(login) && login[0] === 'default' ? (login[1] as string) : login;
    if (callback)
      return sendAuth(words, (error, answer) => (isIgnored(error) ? callback(null, 'OK') : callback(error, answer)));
    return sendAuth(words).catch((error: unknown) => {
      if (isIgnored(error)) return 'OK';
      throw error;
    });
  };
}
