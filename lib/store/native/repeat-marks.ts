import { partitionOf } from '../../message/partition-of.js';
import type { RedisConnections } from '../../redis/redis-connections.js';
import { nativeKeys } from './native-keys.js';

/** A message that repeats because a handler declares that it does. */
export interface DeclaredRepeat {
  readonly queue: string;
  readonly id: string;
  readonly partitions: number;
}

/**
 * Remembers which declared repeats have been offered. A mark is kept on its message's server, because one server of a cluster may lose its
 * data while others keep theirs. A mark outlives its message, which may be cancelled or cleared. So if a mark is missing, the server has
 * lost its data, and the message with it. A mark can also be missing because the number of partitions has changed; then offering the
 * existing message again changes nothing.
 */
export class NativeRepeatMarks {
  constructor(
    private readonly connections: Pick<RedisConnections, 'commands'>,
    private readonly prefix: string,
  ) {}

  async has(repeat: DeclaredRepeat): Promise<boolean> {
    return (await this.connections.commands.send('HEXISTS', this.#keyOf(repeat), repeat.id)).flag();
  }

  /** Called once the message is stored, so a process that crashes before that leaves no mark. */
  async set(repeat: DeclaredRepeat): Promise<void> {
    await this.connections.commands.send('HSET', this.#keyOf(repeat), repeat.id, 1);
  }

  /** Returns the ids of all messages that have marks. */
  async list(queue: string, partitions: number): Promise<string[]> {
    const keys = Array.from(
      { length: partitions },
      (_, partition) => nativeKeys(this.prefix, queue, partition).declared,
    );
    const replies = await Promise.all(keys.map((key) => this.connections.commands.send('HGETALL', key)));
    const fields = replies.flatMap((reply) => reply.rest(() => [reply.text(), reply.text()] as const));
    return [...new Set(fields.map(([id]) => id))];
  }

  #keyOf({ queue, id, partitions }: DeclaredRepeat): string {
    return nativeKeys(this.prefix, queue, partitionOf(id, partitions)).declared;
  }
}
