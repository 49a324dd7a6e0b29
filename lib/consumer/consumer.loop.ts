import { randomBytes } from 'node:crypto';
import type { Logger } from '@nestjs/common';
import type { Clock } from '../clock.js';
import type { ResolvedQueueOptions } from '../delay-queue.options.schema.js';
import { DelayQueueError } from '../delay-queue.errors.js';
import { failurePause } from '../failure-pause.js';
import type {
  ClaimedMessage,
  ClaimReport,
  ClaimRequest,
  Doorbell,
  MessageStore,
  Outcome,
} from '../store/message-store.js';
import { Delivery, type HeldDelivery, ShuttingDown } from './delivery.js';
import { showFailure } from './failure.js';
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
}

interface Claimed {
  readonly token: string;
  /** When the claim was sent, on the monotonic clock. */
  readonly claimedAt: number;
  readonly report: ClaimReport;
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
      const { messages, more } = claimed.report;
      this.#busy += messages.length;
      claim = more && this.#busy < this.#options.settings.concurrency && !this.#stopping ? this.#claim() : undefined;
      for (const message of messages) this.#handle(message, claimed);
      if (!claim) return more;
    }
  }

  async #claim(): Promise<Claimed> {
    const { settings, clock } = this.#options;
    const insteadOf = this.#unanswered;
    const token = `${this.#consumerId}${(this.#claims++).toString(36)}`;
    const half = Math.max(Math.ceil(settings.concurrency / 2), SMALLEST_HALF);
    const request = { token, limit: Math.min(settings.concurrency - this.#busy, half), lease: settings.lease };
    // Until the answer is here: what a lost one took is asked for again, rather than left to its lease.
    this.#unanswered = token;
    let claimed = await this.#ask({ ...request, ...(insteadOf !== undefined && { insteadOf }) });
    // An answer so long on its way that the lease may have ended: asked again, what is still held gets a new one.
    if (clock.monotonic() >= claimed.claimedAt + settings.lease) {
      claimed = await this.#ask({ ...request, token: `${token}-again`, insteadOf: token });
    }
    this.#unanswered = undefined;
    return claimed;
  }

  async #ask(request: ClaimRequest): Promise<Claimed> {
    const { store, clock, logger, queue } = this.#options;
    const claimedAt = clock.monotonic();
    const report = await store.claim(request);
    if (report.orphans.length > 0) {
      logger.error(
        `${queue}: ${report.orphans.length} ready ids had no message and are dropped: is Redis evicting keys?`,
      );
    }
    return { token: request.token, claimedAt, report };
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
        logger.error(`${queue}: claiming failed, again in ${Math.round(pause)} ms: ${showFailure(error)}`);
        ready = true;
        await this.#sleep(pause);
      }
    }
  }

  #handle(message: ClaimedMessage, { token, claimedAt }: Claimed): void {
    const held = { claim: { id: message.id, token }, delivery: new Delivery(this.#options.queue, message) };
    this.#held.add(held);
    this.#keeper.hold(held, claimedAt);
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

function isNotConnected(error: unknown): boolean {
  return error instanceof DelayQueueError && error.code === 'NOT_CONNECTED';
}
