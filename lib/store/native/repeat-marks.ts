import { partitionOf } from '../../message/partition-of.js';
import type { RedisConnections } from '../../redis/redis-connections.js';
import type { DeclaredRepeat, RepeatMarks } from '../repeat-marks.js';
import { nativeKeys } from './native-keys.js';

/** Marks in Redis, each beside its message, because one server of a cluster may lose its data alone. */
export class NativeRepeatMarks implements RepeatMarks {
  constructor(
    private readonly connections: Pick<RedisConnections, 'commands'>,
    private readonly prefix: string,
  ) {}

  async has(repeat: DeclaredRepeat): Promise<boolean> {
    return (await this.connections.commands.send('HEXISTS', this.#keyOf(repeat), repeat.id)).flag();
  }

  async set(repeat: DeclaredRepeat): Promise<void> {
    await this.connections.commands.send('HSET', this.#keyOf(repeat), repeat.id, 1);
  }

  #keyOf({ queue, id, partitions }: DeclaredRepeat): string {
    return nativeKeys(this.prefix, queue, partitionOf(id, partitions)).declared;
  }
}
