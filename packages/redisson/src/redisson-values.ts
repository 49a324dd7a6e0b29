import { acceptsArgument, type MessageBody, type NativeKeys, type RedisCommands } from 'nestjs-delay-queue/layouts';
import type { RedissonKeys } from './redisson-keys.js';
import { redissonFunctions as functions } from './redisson-library.js';

/**
 * The delayed messages of one Redisson queue by their values, no matter who offered them. Of equal ones, any may be meant. Calls search the
 * queue, so their cost grows with it.
 */
export class RedissonValues {
  constructor(
    private readonly commands: RedisCommands,
    private readonly keys: RedissonKeys & NativeKeys,
  ) {}

  async count(): Promise<number> {
    return (await this.commands.run(functions.countValues, { keys: this.keys })).number();
  }

  /** Lists values in the order of offers, `limit` at most; default: all. */
  async list({ limit }: { limit?: number } = {}): Promise<Buffer[]> {
    const args = { first: 0, last: limit === undefined ? -1 : limit - 1 };
    return (await this.commands.run(functions.listValues, { keys: this.keys, args })).rest((reply) => reply.bytes());
  }

  async contains(value: MessageBody): Promise<boolean> {
    return (await this.#seek(value)) !== null;
  }

  /** @returns false if there was none */
  async remove(value: MessageBody): Promise<boolean> {
    for (;;) {
      const entry = await this.#seek(value);
      if (entry === null) return false;
      // It may have fallen due meanwhile. Another one with the same value will do as well.
      if ((await this.#take(entry)) !== null) return true;
    }
  }

  /** Takes the value that was offered first, due or not; null if none is delayed. */
  takeFirst(): Promise<Buffer | null> {
    return this.#take('');
  }

  /** A value that Redis does not accept cannot have been written. */
  async #seek(value: MessageBody): Promise<Buffer | null> {
    if ((await acceptsArgument(this.commands, this.keys.target, Buffer.byteLength(value))) === false) return null;
    let cursor = '0';
    do {
      const reply = await this.commands.run(functions.seekValue, { keys: this.keys, args: { value, cursor } });
      cursor = reply.text();
      if (!reply.done) return reply.bytes();
    } while (cursor !== '0');
    return null;
  }

  async #take(entry: Buffer | ''): Promise<Buffer | null> {
    const reply = await this.commands.run(functions.takeValue, { keys: this.keys, args: { entry } });
    return reply.bytesOrNull();
  }
}
