import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import type {
  Calendar,
  ConnectionOptions,
  DelayQueueModuleOptions,
  QueueEncryption,
  QueueLayout,
} from 'nestjs-delay-queue';
import { encryption, type EncryptionOptions } from 'nestjs-delay-queue/encryption';
import type { CodecName } from 'nestjs-delay-queue-redisson';
import { WrongUsage } from './exit-codes.js';

/**
 * Enables messages with groups. Where a command frees a permit or resumes a group, it lets the next message continue only if nobody else of
 * the group is active, which is not too many, whatever the application allows.
 */
const NARROWEST = { concurrency: 1 } as const;

/** Frees any kept id that is still stored, because this process does not know for how long the application keeps ids. */
const LONGEST = { for: '3652d' } as const;

const DEFAULT_URL = 'redis://127.0.0.1:6379';

/** The options of every command. */
export interface CommonArguments {
  readonly url?: string;
  readonly prefix: string;
  readonly cluster: boolean;
  readonly timeout: string;
  readonly layout?: 'native' | 'redisson';
  readonly redissonName?: string;
  readonly codec?: CodecName;
  readonly encryption?: string;
  readonly json: boolean;
  readonly yes: boolean;
}

export function addCommonOptions(program: Command): void {
  program
    .option('--url <url>', `Redis, as redis[s]://user:password@host:port/db (default: $REDIS_URL, or ${DEFAULT_URL})`)
    .option('--cluster', 'the URL is that of a node of a Redis Cluster', false)
    .option('--prefix <prefix>', 'the `prefix` of the module', 'delay-queue')
    .option('--timeout <duration>', 'how long each call may take', '5s')
    .addOption(
      new Option('--layout <layout>', 'the `layout` of the queue (default: native)').choices(['native', 'redisson']),
    )
    .option('--redisson-name <name>', 'the name of the queue in Redisson, if it differs')
    .addOption(
      new Option('--codec <codec>', 'the `codec` of a queue with the layout redisson (default: json)').choices([
        'json',
        'string',
        'buffer',
        'jackson',
        'kryo5',
      ] satisfies CodecName[]),
    )
    .option('--encryption <file>', 'a JSON file with the keys, as { "current": "k1", "keys": { "k1": "<base64>" } }')
    .option('--json', 'print one JSON document per line', false)
    .option('-y, --yes', 'change things without asking for confirmation', false);
}

/** Makes the module options with which a command reaches its queues. */
export async function moduleOptionsOf(
  args: CommonArguments,
  queues: readonly string[],
): Promise<DelayQueueModuleOptions> {
  const { prefix, timeout } = args;
  return {
    connection: connectionOf(args),
    prefix,
    offerTimeout: timeout,
    consume: false,
    // Somebody who inspects a queue must not be turned away because its server evicts keys.
    allowEviction: true,
    calendar: await loadCalendar(),
    ...(await queueOptions(args, queues)),
  };
}

export function connectionOf(args: CommonArguments): ConnectionOptions {
  const url = urlOf(args);
  return args.cluster ? { cluster: { nodes: [url] } } : url;
}

/** Names the server for people, never with a user or a password. */
export function serverOf(args: CommonArguments): string {
  const text = urlOf(args);
  if (!URL.canParse(text)) return 'an unreadable URL';
  const { hostname, port, pathname } = new URL(text);
  const database = /^\/\d+$/.test(pathname) ? pathname : '';
  return `${hostname || '127.0.0.1'}:${port || '6379'}${database}`;
}

function urlOf({ url }: CommonArguments): string {
  return (url ?? process.env.REDIS_URL) || DEFAULT_URL;
}

async function queueOptions(args: CommonArguments, queues: readonly string[]) {
  const layout = await layoutOf(args);
  const given = args.encryption === undefined ? {} : { encryption: await readKeys(args.encryption) };
  if (layout === undefined) return { defaults: { groups: NARROWEST, idsFor: LONGEST, ...given } };
  const options = { layout, ...given };
  return queues.length === 1 ? { queues: { [queues[0]!]: options } } : { defaults: options };
}

/** Reads keys from a file, because arguments and variables of a process are easily seen by others. @throws WrongUsage */
async function readKeys(file: string): Promise<QueueEncryption> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new WrongUsage(`--encryption: the file cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  let options: EncryptionOptions;
  try {
    options = JSON.parse(text) as EncryptionOptions;
  } catch {
    // The parser's error quotes its input.
    throw new WrongUsage(
      '--encryption: the file is not JSON. Write { "current": "k1", "keys": { "k1": "<base64>" } }.',
    );
  }
  return encryption(options);
}

/** Returns the layout that the arguments name; undefined: the native one. @throws WrongUsage */
export async function layoutOf(args: CommonArguments): Promise<QueueLayout | undefined> {
  const { layout, redissonName: name, codec } = args;
  if (layout === 'redisson') return (await loadRedisson()).redisson({ name, codec });
  if ((name ?? codec) === undefined) return undefined;
  throw new WrongUsage('--redisson-name and --codec need --layout redisson.');
}

/** Returns the layouts whose libraries can be distinguished from those of other versions: Redisson's if its package is installed. */
export async function installedLayouts(): Promise<QueueLayout[]> {
  try {
    return [(await loadRedisson()).redisson()];
  } catch (error) {
    if (error instanceof WrongUsage) return [];
    throw error;
  }
}

/** Returns the calendar, if the package with which it reads cron expressions is installed. */
async function loadCalendar(): Promise<Calendar | undefined> {
  try {
    return (await import('nestjs-delay-queue/calendar')).calendar;
  } catch (error) {
    // The library, which is CommonJS either way, requires it.
    if ((error as NodeJS.ErrnoException).code?.endsWith('MODULE_NOT_FOUND')) return undefined;
    throw error;
  }
}

/** Only users of that layout have installed its package. */
async function loadRedisson() {
  try {
    return await import('nestjs-delay-queue-redisson');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const install = 'npm install nestjs-delay-queue-redisson';
    const npx = 'npx -p nestjs-delay-queue-cli -p nestjs-delay-queue-redisson nestjs-delay-queue-cli …';
    throw new WrongUsage(`--layout redisson needs a package beside the command line: ${install}, or ${npx}`);
  }
}
