import type { StoresOfQueue } from '../store/memory/memory-stores.js';
import type { MemoryMessageStore } from '../store/memory/memory-store.js';
import type { LimitsRegistry, SetLimits } from './set-limits.js';

/** The limits that were set for queues in this process. */
export class MemoryLimits<Options> implements LimitsRegistry {
  readonly #set = new Map<string, SetLimits>();
  readonly #opened = new Map<string, Options>();

  /** @param apply - opens a queue, or changes the limits of an open one */
  constructor(
    private readonly apply: (
      queue: string,
      options: Options,
      limits: Pick<SetLimits, 'globalConcurrency' | 'rate'>,
    ) => StoresOfQueue<MemoryMessageStore>,
  ) {}

  open(queue: string, options: Options): StoresOfQueue<MemoryMessageStore> {
    this.#opened.set(queue, options);
    return this.#apply(queue, options);
  }

  read(queue: string): Promise<SetLimits | undefined> {
    return Promise.resolve(this.#set.get(queue));
  }

  write(queue: string, limits: SetLimits | undefined): Promise<boolean> {
    const wasSet = this.#set.delete(queue);
    if (limits) this.#set.set(queue, limits);
    const options = this.#opened.get(queue);
    if (options !== undefined) {
      const { partitions, groups } = this.#apply(queue, options);
      for (const store of groups ? [...partitions, groups] : partitions) store.limitsChanged();
    }
    return Promise.resolve(wasSet);
  }

  #apply(queue: string, options: Options): StoresOfQueue<MemoryMessageStore> {
    const { globalConcurrency, rate } = this.#set.get(queue) ?? {};
    return this.apply(queue, options, {
      ...(globalConcurrency !== undefined && { globalConcurrency }),
      ...(rate !== undefined && { rate }),
    });
  }
}
