import type { DelayQueueError, DelayQueueProducer } from '../../lib/index.js';

/** The longest delay of an offer, ms. */
const MAX_DELAY = 300;

/**
 * Offers without a pause from several loops at once, and records what became of each offer. An id is never offered twice,
 * so an offer's outcome is the message's.
 */
export class TirelessProducer {
  /** In the order of their acknowledgements. */
  readonly acknowledged: string[] = [];
  readonly #failed = new Map<DelayQueueError['code'], string[]>();
  readonly #hands: Promise<void>[];
  #stopped = false;

  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly queue: string,
    { name, hands }: { name: string; hands: number },
  ) {
    this.#hands = Array.from({ length: hands }, (_, hand) => this.#work(`${name}-${hand}`));
  }

  /** The codes of the offers that failed. */
  get codes(): string[] {
    return [...this.#failed.keys()];
  }

  /** The ids of the offers that failed with the given code. */
  failedWith(code: DelayQueueError['code']): string[] {
    return this.#failed.get(code) ?? [];
  }

  /** Resolves once all offers under way have been answered. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#hands);
  }

  async #work(hand: string): Promise<void> {
    for (let i = 0; !this.#stopped; i++) {
      const id = `${hand}-${i}`;
      try {
        await this.producer.offer(this.queue, null, Math.floor(Math.random() * MAX_DELAY), { id });
        this.acknowledged.push(id);
      } catch (error) {
        const { code } = error as DelayQueueError;
        this.#failed.set(code, [...this.failedWith(code), id]);
        // It fails at once, so the loop would spin forever.
        if (code === 'CLOSED') return;
      }
    }
  }
}
