import { randomBytes } from 'node:crypto';
import type { Logger } from '@nestjs/common';
import type { Clock } from '../clock.js';
import type { ResolvedQueueOptions } from '../delay-queue.options.schema.js';
import { DelayQueueError } from '../delay-queue.errors.js';
import { failurePause } from '../failure-pause.js';
import type { ClaimedMessage, Doorbell, MessageStore, Outcome } from '../store/message-store.js';
import { Delivery, type HeldDelivery, ShuttingDown } from './delivery.js';
import { LeaseKeeper } from './lease-keeper.js';
import type { MessageRunner } from './message.runner.js';
import { describeFailure } from './retry-policy.js';
import { Settler } from './settler.js';

/** Failures in a row that count while there is no connection: the pause stays below a second. */
const MOST_WHILE_UNCONNECTED = 4;

export interface ConsumerLoopOptions {
  readonly queue: string;
  readonly store: MessageStore;
  readonly runner: MessageRunner;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Pick<ResolvedQueueOptions, 'concurrency' | 'lease' | 'blockTimeout'>;
}

/**
 * Takes the ready messages of one queue, in one process, as far as there are free slots: waits at the doorbell, claims,
 * hands over to the handler, settles. Errors are logged and never end it.
 */
export class ConsumerLoop {
  readonly #options: ConsumerLoopOptions;
  readonly #keeper: LeaseKeeper;
  readonly #settler: Settler;
  readonly #held = new Set<HeldDelivery>();
  readonly #consumerId = randomBytes(9).toString('base64url');
  #claims = 0;
  #unanswered: string | undefined;
  #busy = 0;
  #doorbell: Doorbell | undefined;
  #looping: Promise<void> | undefined;
  #stopping = false;
  /** Ends whatever the loop sleeps on: a full house, or a pause after a failure. */
  #wakeUp: () => void = () => undefined;
  #drained: () => void = () => undefined;

  constructor(options: ConsumerLoopOptions) {
    this.#options = options;
    const { queue, store, clock, logger, settings } = options;
    this.#keeper = new LeaseKeeper({ queue, store, clock, logger, lease: settings.lease });
    this.#settler = new Settler({ queue, store, clock, logger });
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
   * Claims what is ready, as far as there are free slots, and starts its handlers.
   *
   * @returns whether ready messages remain
   * @throws what the store throws
   */
  async runOnce(): Promise<boolean> {
    const { store, settings, clock, logger, queue } = this.#options;
    const repeated = this.#unanswered !== undefined;
    const token = this.#unanswered ?? `${this.#consumerId}${(this.#claims++).toString(36)}`;
    // Until the answer is here: what a lost one took is asked for again, rather than left to its lease.
    this.#unanswered = token;
    const claimedAt = clock.monotonic();
    const limit = settings.concurrency - this.#busy;
    const { messages, more, orphans } = await store.claim({ token, limit, lease: settings.lease, repeated });
    this.#unanswered = undefined;
    if (orphans.length > 0) {
      logger.error(`${queue}: ${orphans.length} ready ids had no message and are dropped: is Redis evicting keys?`);
    }
    for (const message of messages) void this.#handle(message, token, claimedAt);
    return more;
  }

  /** Stops claiming; what is held goes on. Rings for the messages that it would have taken. */
  async stopClaiming(): Promise<void> {
    this.#stopping = true;
    this.#wakeUp();
    await this.#doorbell?.close();
    await this.#looping;
    // A token that was popped in the last moment must not be lost with this consumer.
    await this.#options.store.claim({ token: 'none', limit: 0, lease: 0 }).catch(() => undefined);
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
        const pause = failurePause(isNotConnected(error) ? Math.min(failures, MOST_WHILE_UNCONNECTED) : failures);
        logger.error(`${queue}: claiming failed, again in ${Math.round(pause)} ms: ${String(error)}`);
        ready = true;
        await this.#sleep(pause);
      }
    }
  }

  async #handle(message: ClaimedMessage, token: string, claimedAt: number): Promise<void> {
    const { logger, queue } = this.#options;
    const held = { claim: { id: message.id, token }, delivery: new Delivery(queue, message) };
    this.#held.add(held);
    this.#keeper.hold(held, claimedAt);
    this.#busy++;
    const outcome = await this.#outcomeOf(held.delivery, message.body);
    this.#busy--;
    this.#wakeUp();

    const result = await this.#settler.settle({ claim: held.claim, outcome });
    if (result === 'refused') {
      logger.warn(
        `${queue}: message ${message.id} was handled, but its lease was lost meanwhile: the outcome does not count`,
      );
    }
    this.#keeper.release(held);
    this.#held.delete(held);
    if (this.#held.size === 0) this.#drained();
  }

  async #outcomeOf(delivery: Delivery, body: Buffer): Promise<Outcome> {
    const { store, runner, logger, queue } = this.#options;
    try {
      delivery.open(store.codec.decode(body));
    } catch (error) {
      logger.error(`${queue}: message ${delivery.id} is a dead letter, its body cannot be read: ${String(error)}`);
      return { kind: 'dead', error: JSON.stringify(describeFailure(error)) };
    }
    return runner.run(delivery);
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

function isNotConnected(error: unknown): boolean {
  return error instanceof DelayQueueError && error.code === 'NOT_CONNECTED';
}
