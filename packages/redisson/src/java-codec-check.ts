import { DelayQueueError } from 'nestjs-delay-queue';
import { guessCodec } from './codec/codec-signs.js';
import type { RedissonCodec } from './codec/redisson-codec.js';

/**
 * Finds out from Java's delayed messages if Java uses the codec of a queue. A process that only offers reads none of its messages, and Java
 * would lose what it writes.
 */
export class JavaCodecCheck {
  /** @param name - of the codec, for people */
  constructor(
    private readonly queue: string,
    private readonly name: string,
    private readonly codec: Pick<RedissonCodec, 'decode' | 'isOwn'>,
  ) {}

  /**
   * @param values - some that other clients have written
   * @returns true if no further check is needed
   * @throws DelayQueueError `INVALID_OPTION` if another codec wrote them
   */
  check(values: readonly Buffer[]): boolean {
    if (!this.codec.isOwn) return true;
    const verdicts = values.map((value) => this.#isOwn(value));
    if (verdicts.includes(true)) return true;
    const foreign = values[verdicts.indexOf(false)];
    if (!foreign) return false;
    const problem =
      `queue '${this.queue}': codec: Java could not read what codec ${this.name} writes: its delayed messages look like ` +
      `${guessCodec(foreign)}. Nothing was written. Set the codec that Java uses for the queue in every process, or ` +
      'json({ typeInfo: true }) if its classes have @JsonTypeInfo';
    throw new DelayQueueError('INVALID_OPTION', problem);
  }

  #isOwn(value: Buffer): boolean | undefined {
    try {
      this.codec.decode(value);
    } catch {
      return false;
    }
    return this.codec.isOwn?.(value);
  }
}
