import { setTimeout as sleep } from 'node:timers/promises';
import type { OutboxDatabase } from '../database/outbox-database.js';

/** The pauses before it listens again, ms. */
const MIN_PAUSE = 100;
const MAX_PAUSE = 5000;
/** The pause if nothing arrives, which stays so until somebody changes something. */
const UNDELIVERED_PAUSE = 60_000;
/** How long its own notification may take, ms. */
const PROOF_TIMEOUT = 5000;
/** How long a close waits for an answer of the database, ms. */
const CLOSE_TIMEOUT = 1000;

export interface ChannelListenerParts {
  readonly listen: NonNullable<OutboxDatabase['listen']>;
  readonly channel: string;
  /** Notifies the channel, over another connection. */
  readonly notify: () => Promise<void>;
  /** Called at each notification, and whenever some may have been missed. */
  readonly onNotification: () => void;
  /** Called if its own notification does not arrive. */
  readonly onUndelivered: () => void;
}

/**
 * Listens to the channel of a table while it is open, and connects again whenever the connection is lost. A pooler such as PgBouncer may
 * accept that and pass nothing on, so it counts as listening only once a notification has arrived.
 */
export class ChannelListener {
  #close: (() => Promise<void>) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pause = MIN_PAUSE;
  #isOpen = true;
  #opening: Promise<void>;

  constructor(private readonly parts: ChannelListenerParts) {
    this.#opening = this.#start();
  }

  get isListening(): boolean {
    return this.#close !== undefined;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    await Promise.race([this.#opening, sleep(CLOSE_TIMEOUT)]);
    await this.#end();
  }

  async #start(): Promise<void> {
    const { listen, channel, notify, onNotification, onUndelivered } = this.parts;
    let isLost = false;
    let proven = () => undefined as void;
    const proof = new Promise<boolean>((resolve) => (proven = () => resolve(true)));
    const notified = () => {
      proven();
      onNotification();
    };
    const lost = () => {
      isLost = true;
      proven();
      if (this.isListening) void this.#end().finally(() => this.#later());
    };
    try {
      const close = await listen(channel, { notified, lost });
      const isProven = await this.#isProven(proof, notify).catch(() => undefined);
      if (!isProven || isLost || !this.#isOpen) {
        await close().catch(() => undefined);
        if (isProven === false && this.#isOpen) {
          onUndelivered();
          this.#pause = UNDELIVERED_PAUSE;
        }
        throw new Error('Notifications do not arrive here');
      }
      this.#close = close;
      this.#pause = MIN_PAUSE;
      onNotification();
    } catch {
      // The relay keeps looking, and reports what is wrong with the database.
      this.#later();
    }
  }

  async #isProven(proof: Promise<boolean>, notify: () => Promise<void>): Promise<boolean> {
    await notify();
    return Promise.race([proof, sleep(PROOF_TIMEOUT, false, { ref: false })]);
  }

  #later(): void {
    if (!this.#isOpen) return;
    this.#timer = setTimeout(() => {
      this.#opening = this.#start();
    }, this.#pause);
    this.#pause = Math.min(this.#pause * 2, MAX_PAUSE);
  }

  async #end(): Promise<void> {
    const close = this.#close;
    this.#close = undefined;
    await close?.().catch(() => undefined);
  }
}
