import type { Logger } from '@nestjs/common';
import type { Clock } from '../clock.js';
import type { ResolvedQueueOptions } from '../delay-queue.options.schema.js';
import { failurePause } from '../failure-pause.js';
import type { ClaimedMessage, Doorbell, MessageStore, Outcome } from '../store/message-store.js';
import { type Claimed, Claimer } from './claimer.js';
import { Delivery, type HeldDelivery, ShuttingDown } from './delivery.js';
import { hasCode, showFailure } from './failure.js';
import { LeaseKeeper } from './lease-keeper.js';
import type { MessageRunner } from './message.runner.js';
import { Settler, type SettleResult } from './settler.js';

/** Fewer slots than this are not worth a claim of half of them. */
const SMALLEST_HALF = 32;

/** Failures in a row that count while there is no connection: the pause stays below a second. */
const MOST_WHILE_UNCONNECTED = 4;

export interface ConsumerLoopOptions {
  readonly queue: string;
  readonly store: MessageStore;
  readonly runner: MessageRunner;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Pick<ResolvedQueueOptions, 'concurrency' | 'lease' | 'blockTimeout'>;
  /** After which the store gives up a call, ms. */
  readonly answerTimeout: number;
}

/**
 * Takes the ready messages of one queue, in one process, as far as there are free slots: waits at the doorbell, claims,
 * hands over to the handler, settles. Errors are logged and never end it.
 */
export class ConsumerLoop {
  readonly #options: ConsumerLoopOptions;
  readonly #claimer: Claimer;
  readonly #keeper: LeaseKeeper;
  readonly #settler: Settler;
  readonly #held = new Set<HeldDelivery>();
  #busy = 0;
  #doorbell: Doorbell | undefined;
  #looping: Promise<void> | undefined;
  #stopping = false;
  /** Ends whatever the loop sleeps on: a full house, or a pause after a failure. */
  #wakeUp: () => void = () => undefined;
  #drained: () => void = () => undefined;

  constructor(options: ConsumerLoopOptions) {
    this.#options = options;
    const { queue, store, clock, logger, settings, answerTimeout } = options;
    const { lease } = settings;
    this.#claimer = new Claimer({ queue, store, clock, logger, lease, answerTimeout });
    this.#keeper = new LeaseKeeper({ queue, store, clock, logger, lease });
    this.#settler = new Settler({
      queue,
      store,
      clock,
      logger,
      onSettled: (held, result) => this.#letGo(held, result),
    });
  }

  /** Messages whose handler runs, or whose outcome is not settled yet. */
  get held(): number {
    return this.#held.size;
  }

  start(): void {
    this.#doorbell = this.#options.store.openDoorbell();
    this.#looping = this.#loop(this.#doorbell);
  }

  /**
   * Claims what is ready, as far as there are free slots, and starts its handlers. A claim takes half of the slots at most,
   * and the next one is sent before the handlers start: so the server prepares one half while this process handles the other.
   *
   * @returns whether ready messages remain
   * @throws what the store throws
   */
  async runOnce(): Promise<boolean> {
    for (let claim: Promise<Claimed> | undefined = this.#claim(); ;) {
      const claimed: Claimed = await claim;
      const { messages, more } = claimed;
      this.#busy += messages.length;
      claim = more && this.#busy < this.#options.settings.concurrency && !this.#stopping ? this.#claim() : undefined;
      for (const message of messages) this.#handle(message, claimed);
      if (!claim) return more;
    }
  }

  #claim(): Promise<Claimed> {
    const { concurrency } = this.#options.settings;
    const half = Math.max(Math.ceil(concurrency / 2), SMALLEST_HALF);
    return this.#claimer.claim(Math.min(concurrency - this.#busy, half));
  }

  /** Stops claiming; what is held goes on. Others get what it would have taken, and what claims without an answer took. */
  async stopClaiming(): Promise<void> {
    this.#stopping = true;
    this.#wakeUp();
    await this.#doorbell?.close();
    await this.#looping;
    // A token that was popped in the last moment must not be lost with this consumer.
    await this.#claimer.giveBack().catch(() => undefined);
  }

  /** Resolves when nothing is held any more. */
  drained(): Promise<void> {
    return this.#held.size === 0 ? Promise.resolve() : new Promise((resolve) => (this.#drained = resolve));
  }

  /** Tells the handlers that still run that their time is up. */
  abortHandlers(): void {
    for (const { delivery } of this.#held) delivery.abort(new ShuttingDown('The application is shutting down'));
  }

  /** Lets go of everything; what is still held comes back when its lease ends. */
  abandon(): void {
    this.#settler.stop();
    for (const held of this.#held) this.#keeper.release(held);
  }

  async #loop(doorbell: Doorbell): Promise<void> {
    const { logger, queue, settings } = this.#options;
    // Something may have become ready, and its token lost, while nobody was here.
    let ready = true;
    let failures = 0;
    while (!this.#stopping) {
      try {
        if (this.#busy >= settings.concurrency) await this.#sleep();
        else if (ready || (await doorbell.wait(settings.blockTimeout))) {
          if (!this.#stopping) ready = await this.runOnce();
        }
        failures = 0;
      } catch (error) {
        if (this.#stopping) return;
        failures++;
        // A store that is not connected has waited already: a long pause on top would outlast the outage.
        const pause = failurePause(
          hasCode(error, 'NOT_CONNECTED') ? Math.min(failures, MOST_WHILE_UNCONNECTED) : failures,
        );
        logger.error(`${queue}: claiming failed, again in ${Math.round(pause)} ms: ${showFailure(error)}`);
        ready = true;
        await this.#sleep(pause);
      }
    }
  }

  #handle(message: ClaimedMessage, { token, sentAt }: Claimed): void {
    const held = { claim: { id: message.id, token }, delivery: new Delivery(this.#options.queue, message) };
    this.#held.add(held);
    this.#keeper.hold(held, sentAt);
    const outcome = this.#options.runner.run(held.delivery);
    if (outcome instanceof Promise) void outcome.then((known) => this.#settle(held, known));
    else this.#settle(held, outcome);
  }

  #settle(held: HeldDelivery, outcome: Outcome): void {
    this.#busy--;
    this.#wakeUp();
    this.#settler.settle(held, outcome);
  }

  #letGo(held: HeldDelivery, result: SettleResult): void {
    if (result === 'refused') this.#warnOfRefusal(held.claim.id);
    this.#keeper.release(held);
    this.#held.delete(held);
    if (this.#held.size === 0) this.#drained();
  }

  #warnOfRefusal(id: string): void {
    const { logger, queue } = this.#options;
    logger.warn(`${queue}: message ${id} was handled, but its lease was lost meanwhile: the outcome does not count`);
  }

  /** Until {@link #wakeUp}, or for `length` ms. Slots that become free in the same turn are all there when it ends. */
  async #sleep(length?: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancelTimer = length === undefined ? undefined : this.#options.clock.schedule(resolve, length);
      this.#wakeUp = () => {
        cancelTimer?.();
        resolve();
      };
    });
    await new Promise((resolve) => setImmediate(resolve));
  }
}
