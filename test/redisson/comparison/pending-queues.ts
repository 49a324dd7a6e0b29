import type { Redis } from 'ioredis';
import { randomName } from '../../support/random-name.js';
import type { Contestant } from './contestant.js';

/** Fresh queues with so many messages in them: written once for each number, then copied by Redis. */
export class PendingQueues {
  readonly #templates = new Map<number, string>();

  constructor(
    private readonly redis: Redis,
    private readonly contestant: Contestant,
  ) {}

  async create(count: number): Promise<string> {
    const template = await this.#template(count);
    const queue = randomName('queue');
    for (const key of await this.#keys(template)) await this.redis.copy(key, key.replace(template, queue));
    return queue;
  }

  async remove(queue: string): Promise<void> {
    const keys = await this.#keys(queue);
    if (keys.length > 0) await this.redis.unlink(keys);
  }

  async #template(count: number): Promise<string> {
    const known = this.#templates.get(count);
    if (known !== undefined) return known;
    const template = randomName('template');
    await this.contestant.preload(template, count);
    this.#templates.set(count, template);
    return template;
  }

  #keys(queue: string): Promise<string[]> {
    return this.redis.keys(`*${queue}*`);
  }
}
