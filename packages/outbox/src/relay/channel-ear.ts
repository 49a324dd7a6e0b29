import type { OutboxDatabase } from '../database/outbox-database.js';

/** The pauses before it listens again, ms. */
const SHORTEST_PAUSE = 100;
const LONGEST_PAUSE = 5000;

/** Listens to the channel of a table, for as long as it is open: whenever the connection is lost, it makes another. */
export class ChannelEar {
  #close: (() => Promise<void>) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pause = SHORTEST_PAUSE;
  #isOpen = true;
  #opening: Promise<void> = Promise.resolve();

  /** @param heard - called at each notification, and whenever some may have been missed */
  constructor(
    private readonly listen: NonNullable<OutboxDatabase['listen']>,
    private readonly channel: string,
    private readonly heard: () => void,
  ) {
    this.#opening = this.#start();
  }

  get isListening(): boolean {
    return this.#close !== undefined;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    await this.#opening;
    await this.#end();
  }

  async #start(): Promise<void> {
    let isLost = false;
    const lost = () => {
      isLost = true;
      if (this.isListening) void this.#end().finally(() => this.#later());
    };
    try {
      const close = await this.listen(this.channel, { notified: this.heard, lost });
      if (isLost) throw new Error('The connection was lost at once');
      this.#close = close;
      this.#pause = SHORTEST_PAUSE;
      this.heard();
    } catch {
      // The relay goes on looking, and tells of what is wrong with the database.
      this.#later();
    }
  }

  #later(): void {
    if (!this.#isOpen) return;
    this.#timer = setTimeout(() => {
      this.#opening = this.#start();
    }, this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
  }

  async #end(): Promise<void> {
    const close = this.#close;
    this.#close = undefined;
    await close?.().catch(() => undefined);
  }
}
