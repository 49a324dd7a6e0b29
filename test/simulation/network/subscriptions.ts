import type { DueListener, AnnouncedTransfer } from '../../../lib/store/consumer-store.js';
import { cancel, type WorldEvent } from '../world/world.js';
import type { Link } from './link.js';

/** Passes something on to the process that has subscribed. */
export type Deliver = (announcement: () => void) => void;

/** Called with each announcement on its way; returns true if the connection breaks instead. */
type Breaks = (name: string) => boolean;

interface Connection {
  connect(): void;
  disconnect(): void;
  /** What a stranger announces arrives like anything else. */
  hear(transfer: AnnouncedTransfer): void;
}

/** How long it takes at most until a lost subscription is there again, ms. */
const MAX_RECONNECTION = 300;

/** The subscriptions of a process: announcements get lost, and nobody repeats them. */
export class Subscriptions {
  /** Until then, announcements are lost and nobody notices. */
  #silentUntil = -Infinity;
  readonly #connections = new Set<Connection>();
  #lastDelivery = 0;
  #reconnection: WorldEvent | undefined;
  readonly #breaks = new Set<Breaks>();

  constructor(private readonly link: Link) {
    link.onCut(() => this.lose());
    link.process.onDeath(() => {
      for (const connection of this.#connections) connection.disconnect();
    });
  }

  /** Loses announcements for a while, until a new connection takes the place of the one that is dead. */
  silence(ms: number): void {
    const { world } = this.link.process;
    this.#silentUntil = world.now + ms;
    world.at(this.#silentUntil, () => this.lose());
  }

  /** Loses the connection, and opens another one. */
  lose(): void {
    const { link } = this;
    const { world } = link.process;
    for (const connection of this.#connections) connection.disconnect();
    if (this.#reconnection) cancel(this.#reconnection);
    const at = Math.max(world.now, link.upAt) + link.latency() + MAX_RECONNECTION * link.draw();
    this.#reconnection = world.at(at, () => {
      if (link.process.isDead) return;
      if (link.isDown) return this.lose();
      for (const connection of this.#connections) connection.connect();
    });
  }

  /**
   * Loses the connection when something is announced next, which gets lost with it.
   *
   * @param name - the beginning of the name of the queue or family; undefined: any
   * @param onLost - called then
   * @returns what calls it off
   */
  loseNext(name: string | undefined, onLost: () => void): () => void {
    const breaks = (announced: string) => {
      if (name !== undefined && !announced.startsWith(name)) return false;
      this.#breaks.delete(breaks);
      this.lose();
      onLost();
      return true;
    };
    this.#breaks.add(breaks);
    return () => this.#breaks.delete(breaks);
  }

  /** A stranger, whose word may be false, announces a transfer on every channel. */
  hear(transfer: AnnouncedTransfer): void {
    for (const connection of this.#connections) connection.hear(transfer);
  }

  /**
   * @param name - of the queue or family
   * @param watch - subscribes at the server, and returns what ends that
   * @param listener - hears what strangers announce
   * @returns ends the subscription
   */
  open(name: string, watch: (deliver: Deliver) => () => void, listener?: DueListener): () => void {
    const { process } = this.link;
    const { world } = process;
    let unwatch: (() => void) | undefined;
    let isEnded = false;
    const deliver: Deliver = (announcement) => {
      if (world.now < this.#silentUntil || this.link.isDown) return;
      for (const breaks of this.#breaks) if (breaks(name)) return;
      this.#lastDelivery = Math.max(this.#lastDelivery, world.now + this.link.latency());
      const connection = unwatch;
      world.at(
        this.#lastDelivery,
        () => {
          if (!isEnded && connection === unwatch) announcement();
        },
        process,
      );
    };
    const connection = {
      connect: () => {
        if (!isEnded && !unwatch) unwatch = watch(deliver);
      },
      disconnect: () => {
        unwatch?.();
        unwatch = undefined;
      },
      hear: (transfer: AnnouncedTransfer) => {
        if (unwatch) deliver(() => listener?.onTransfer?.(transfer));
      },
    };
    this.#connections.add(connection);
    world.at(process.now + this.link.latency(), () => {
      if (!this.link.isDown && !process.isDead) connection.connect();
    });
    return () => {
      isEnded = true;
      connection.disconnect();
      this.#connections.delete(connection);
    };
  }
}
