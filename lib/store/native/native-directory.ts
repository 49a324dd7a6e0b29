import { randomBytes } from 'node:crypto';
import { isFamily, QUEUE_FAMILY, QUEUE_NAME } from '../../message/queue-name.js';
import type {
  FamilyListener,
  QueueDirectory,
  RegisteredPart,
  Registration,
  WatchedFamily,
} from '../queue-directory.js';
import { neededCommands, type NeededCommand, type Permissions } from '../../redis/check/permissions.js';
import type { RedisConnections } from '../../redis/redis-connections.js';
import { LIMITS_CHANGED, readAnnouncement } from './script-replies.js';
import { nativeLibrary } from './native-library.js';
import { groupKeys, nativeKeys, queueOfTag } from './native-keys.js';

/** The directory's keys in Redis. Their hash tag is unique, because no queue's name contains `@`. */
export interface DirectoryKeys {
  /** ZSET name → 0, of every queue that has ever been handled, or was registered and not forgotten since. Sorted for listing by name. */
  readonly names: string;
  /** HASH name → stamp of the latest registration, of the queues that may hold messages. */
  readonly registered: string;
  /** ZSET name → 0, of every queue and family that some process has handled. */
  readonly handled: string;
  /** HASH with one field, `id`: the random id of this set of queues, created by the first relay of an outbox. */
  readonly place: string;
}

export function directoryKeys(prefix: string): DirectoryKeys {
  const key = (part: string) => `${prefix}:{@queues}:${part}`;
  return { names: key('names'), registered: key('registered'), handled: key('handled'), place: key('place') };
}

/** The commands that a process with families sends to the directory. A process that only offers needs only those of a producer. */
export const directoryPermissions: Permissions<DirectoryKeys> = {
  names: ['ZADD', 'ZRANGE', 'ZREM'],
  registered: ['HDEL', 'HGET', 'HSCAN', 'HSET'],
  handled: ['ZADD', 'ZRANGE', 'ZSCORE'],
  place: ['HGET', 'HSET'],
};

/** Lists the commands that only a family needs. The patterns are exact: Redis compares them as strings with those in the user's ACL. */
export function neededByFamily(prefix: string, family: WatchedFamily): NeededCommand[] {
  return [
    ...neededCommands(directoryPermissions, directoryKeys(prefix)),
    ...patternsOf(prefix, family).map((target) => ({ name: 'PSUBSCRIBE', target })),
  ];
}

/** Returns the patterns of a family's channels. They need no escapes, because `*` is the only special character in a family's name. */
function patternsOf(prefix: string, { name, hasGroups }: WatchedFamily): string[] {
  return [nativeKeys(prefix, name).due, ...(hasGroups ? [groupKeys(prefix, name).due] : [])];
}

export const placeFunction = nativeLibrary.define('place', directoryKeys(''));
export const retireFunction = nativeLibrary.define('retire', directoryKeys(''));

/** Number of registrations that one call reads (approximately) or writes. */
const PART = 1000;

/**
 * The directory of queues in Redis. Its keys are in a different hash slot from the queues' keys. It ignores names that no queue can have:
 * somebody else has written them, and they may break keys, patterns or a terminal. Registrations are plain commands, not functions: if the
 * server lacked the function, the call would be repeated later, perhaps after the offer that must follow the registration.
 */
export class NativeQueueDirectory implements QueueDirectory {
  readonly #keys: DirectoryKeys;
  /** Distinguishes this process's stamps from those of other processes. */
  readonly #origin = randomBytes(9).toString('base64url');
  #registrations = 0;

  constructor(
    private readonly connections: RedisConnections,
    private readonly prefix: string,
    /** Called when limits of a family's queue may have changed. */
    private readonly onLimits: () => void = () => undefined,
  ) {
    this.#keys = directoryKeys(prefix);
  }

  async register(queue: string): Promise<void> {
    const { commands } = this.connections;
    const stamp = `${this.#origin}-${++this.#registrations}`;
    await Promise.all([
      commands.send('HSET', this.#keys.registered, queue, stamp),
      commands.send('ZADD', this.#keys.names, 0, queue),
    ]);
  }

  async registerHandled(names: readonly string[]): Promise<void> {
    const { commands } = this.connections;
    const members = (of: readonly string[]) => of.flatMap((name) => [0, name]);
    for (let first = 0; first < names.length; first += PART) {
      const part = names.slice(first, first + PART);
      const queues = part.filter((name) => !isFamily(name));
      await Promise.all([
        commands.send('ZADD', this.#keys.handled, ...members(part)),
        queues.length > 0 && commands.send('ZADD', this.#keys.names, ...members(queues)),
      ]);
    }
  }

  async handled(): Promise<string[]> {
    const reply = await this.connections.commands.send('ZRANGE', this.#keys.handled, 0, -1);
    return reply.rest(() => reply.text()).filter((name) => QUEUE_NAME.test(name) || QUEUE_FAMILY.test(name));
  }

  async list({ after, limit }: { after: string; limit: number }): Promise<string[]> {
    const found: string[] = [];
    let behind = Buffer.from(after === '' ? '-' : `(${after}`);
    while (found.length < limit) {
      const names = await this.#namesFrom(behind, limit);
      found.push(...names.map(String).filter((name) => QUEUE_NAME.test(name)));
      if (names.length < limit) break;
      // As bytes, because a name is not necessarily valid UTF-8.
      behind = Buffer.concat([Buffer.from('('), names.at(-1)!]);
    }
    return found.slice(0, limit);
  }

  async #namesFrom(min: Buffer, limit: number): Promise<Buffer[]> {
    const words = [this.#keys.names, min, '+', 'BYLEX', 'LIMIT', 0, limit];
    return (await this.connections.commands.send('ZRANGE', ...words)).rest((reply) => reply.bytes());
  }

  async place(proposed: string): Promise<string> {
    return (await this.connections.commands.run(placeFunction, { keys: this.#keys, args: { proposed } })).text();
  }

  async listRegistered(family: string, cursor = '0'): Promise<RegisteredPart> {
    const words = [this.#keys.registered, cursor, 'MATCH', family, 'COUNT', PART];
    const reply = await this.connections.commands.send('HSCAN', ...words);
    const next = reply.text();
    const registrations = reply.list((fields) => ({ queue: fields.text(), stamp: fields.text() }));
    return {
      registrations: registrations.filter(({ queue }) => QUEUE_NAME.test(queue)),
      cursor: next === '0' ? null : next,
    };
  }

  async retire({ queue, stamp }: Registration, name: 'kept' | 'forgotten'): Promise<boolean> {
    const call = { keys: this.#keys, args: { queue, stamp, name } };
    return (await this.connections.commands.run(retireFunction, call)).flag();
  }

  watch(family: WatchedFamily, listener: FamilyListener): () => void {
    const stops = patternsOf(this.prefix, family).map((pattern) => this.#watch(pattern, family.name, listener));
    return () => stops.forEach((stop) => stop());
  }

  #watch(pattern: string, family: string, listener: FamilyListener): () => void {
    const [before, behind] = [pattern.indexOf('*') - family.length + 1, pattern.length - pattern.indexOf('*') - 1];
    const { announcements } = this.connections;
    return announcements.listenToAll(pattern, {
      onListening: () => {
        this.onLimits();
        listener.onListening();
      },
      onMessage: (text, channel) => {
        if (text === LIMITS_CHANGED) return this.onLimits();
        const queue = queueOfTag(channel.slice(before, -behind));
        if (!QUEUE_NAME.test(queue)) return;
        readAnnouncement(text, announcements.database, {
          onEarlierDue: ({ dueIn }) => listener.onEarlierDue(queue, dueIn),
          onAbort: (claim) => listener.onAbort?.(queue, claim),
        });
      },
    });
  }
}
