import type { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import { hasCode } from '../message/failure.js';
import type { Announcer, Claim, ConsumerStore, TransferReport } from '../store/consumer-store.js';
import type { Clock, RemoteClock } from '../timing/clock.js';
import { setImmediate } from '../timing/event-loop.js';
import { failurePause, Pauses } from '../timing/pauses.js';
import type { Activity } from './activity.js';
import { Capacity, type Slots } from './capacity.js';
import { type Claimed, Claimer, type TransferBesides } from './claimer.js';
import { Delivery } from './delivery.js';
import { Dispatcher } from './dispatcher.js';
import { LeaseKeeper } from './lease-keeper.js';
import type { MessageRunner } from './message-runner.js';
import { RELEASE } from './outcomes.js';
import { type SettledHistory, Settler } from './settler.js';
import { WakeWait } from './wake-wait.js';

/** Without a connection, failures beyond this number no longer lengthen the pause, so it stays below a second. */
const MAX_FAILURES_UNCONNECTED = 4;

const noop = () => undefined;

/**
 * Consumes one queue or partition in one process: while there are free slots, it waits for the wake-up signal, claims ready messages and
 * has their handlers started. Errors are logged and never end the loop.
 *
 * All messages enter through {@link ConsumerLoop.#take}, claimed by the loop or, with {@link transferAndClaim}, by the transfer scheduler.
 * The dispatcher starts each message's handler, and the settler sends its outcome to the store.
 */
export class ConsumerLoop {
  /** The messages that this loop has claimed but not settled yet. */
  readonly leases: LeaseKeeper;
  readonly #claimer: Claimer;
  readonly #dispatcher: Dispatcher;
  readonly #settler: Settler;
  readonly #streak: FailureStreak;
  readonly #pauses: Pauses;
  readonly #capacity: Capacity;
  #signal: WakeWait | undefined;
  #looping: Promise<unknown> | undefined;
  #stopping = false;
  /** When to claim again if the queue's rate is used up, on the monotonic clock; undefined if the rate is not used up. */
  #claimAgainAt: number | undefined;
  /** True if the store's signal has woken this consumer, and the loop has not claimed since. */
  #hasSignal = false;
  /** True before the loop starts, and while it waits for the signal. */
  #isIdle = true;
  /** True if the queue's limits have changed since the loop last decided to wait. */
  #hasNewLimits = false;
  /** Resolves when the current claim with a transfer has ended. */
  #transferring: Promise<unknown> | undefined;
  /** Messages aborted during the current claim. Their announcement may arrive before the claim's answer, which uses another connection. */
  #abortedMeanwhile: Claim[] = [];

  constructor(
    private readonly options: {
      readonly queue: string;
      readonly store: ConsumerStore;
      readonly runner: MessageRunner;
      readonly clock: Clock;
      readonly events: Events;
      /** The length of a lease, ms. */
      readonly lease: number;
      /** How long the consumer blocks while it waits for the wake-up signal, ms. */
      readonly blockTimeout: number;
      /** How long the store waits for an answer, ms. */
      readonly answerTimeout: number;
      readonly storeClock: RemoteClock;
      readonly slots: Slots;
      /** Undefined if nothing counts. */
      readonly activity?: Activity | undefined;
      /** Undefined if handled messages are not remembered. */
      readonly history?: SettledHistory | undefined;
    },
  ) {
    const { queue, store, clock, events, lease, answerTimeout, storeClock } = options;
    const { slots, runner, activity, history } = options;
    const common = { queue, store, clock, events, lease };
    this.#capacity = new Capacity({ slots, clock, batch: runner.maxBatch });
    this.#streak = new FailureStreak(clock, workFailures(events, 'claim', queue));
    this.#pauses = new Pauses(clock);
    this.#claimer = new Claimer({ ...common, answerTimeout, storeClock });
    this.leases = new LeaseKeeper(common);
    this.#settler = new Settler({ ...common, leases: this.leases, activity, errors: runner.errors, history });
    const parts = { capacity: this.#capacity, settler: this.#settler, claimer: this.#claimer, activity };
    this.#dispatcher = new Dispatcher({ ...common, ...parts, runner });
  }

  /** True if the loop holds messages, or may hold some because a claim was not answered. */
  get mayHold(): boolean {
    return this.leases.held.size > 0 || this.#claimer.hasUnanswered;
  }

  /**
   * Claims ready messages and starts their handlers, without waiting for more. Returns true if messages may remain. {@link start} handles
   * those, and reports failures that persist.
   */
  visit(): Promise<boolean> {
    const visit = this.runOnce().catch(() => true);
    this.#looping = visit;
    return visit;
  }

  start(): void {
    const { store, clock, blockTimeout } = this.options;
    this.#signal = new WakeWait({
      signal: store.openWakeSignal(),
      clock,
      maxRest: blockTimeout,
      passOn: () => this.#wakeAnother(),
    });
    this.#isIdle = false;
    this.#looping = this.#loop(this.#signal);
  }

  /** Called when messages have been ready for a while. Makes the loop claim if it is waiting for the signal. */
  wake(): void {
    this.#signal?.wake();
  }

  /** Called when the queue's limits have changed. Makes the loop claim if it is waiting, because it may be allowed to claim more. */
  limitsChanged(): void {
    this.#hasNewLimits = true;
    this.#pauses.end();
    this.#signal?.interrupt();
  }

  /**
   * Claims ready messages while there are free slots, and starts their handlers. Returns true if ready messages remain. A claim takes at
   * most half of the slots. The next claim is sent before the handlers start, so that the server prepares one half while this process
   * handles the other. If handlers are slow to start, the next claim is sent only once they have, because its messages would wait here.
   */
  async runOnce(): Promise<boolean> {
    if (this.#transferring) await this.#transferring;
    for (let claim = this.#take(); ;) {
      const { more } = await claim;
      const next = more && this.#mayClaimAhead ? this.#take() : undefined;
      // Prevents an unhandled rejection if the next claim fails before the loop awaits it.
      next?.catch(noop);
      await this.#dispatcher.run();
      if (!next) return more;
      claim = next;
    }
  }

  /**
   * Makes a transfer that also claims due messages, without the wake-up signal, if this loop is idle and most of its slots are free. Other
   * claims of the loop wait for this one. Returns undefined, or a promise of it, if nothing was changed and a plain transfer is needed.
   *
   * @param taken - how many messages the transfers just before have claimed
   */
  transferAndClaim(announcer: Announcer | undefined, taken: number): Promise<TransferReport | undefined> | undefined {
    const { store, runner } = this.options;
    if (!store.transferAndClaim || !this.#isIdle || this.#transferring || this.#stopping) return undefined;
    // The next claim must supersede an unanswered one, which a transfer cannot do.
    if (this.#claimer.hasUnanswered || runner.haltReason !== undefined) return undefined;
    const limit = this.#capacity.besidesTransfer(taken);
    if (limit < 1) return undefined;
    const transfer = this.#transferAndClaim(limit, announcer);
    this.#transferring = transfer.catch(noop);
    return transfer;
  }

  /**
   * Stops claiming; running handlers carry on. Releases messages whose handlers have not started, and messages of unanswered claims. Wakes
   * consumers for them.
   */
  async stopClaiming(): Promise<void> {
    this.#stopping = true;
    this.#dispatcher.stop();
    this.#capacity.close();
    this.#pauses.end();
    await this.#signal?.close();
    await this.#looping;
    await this.#transferring;
    // A signal that arrived at the last moment must not be lost with this consumer.
    await this.#claimer.releaseUnanswered().catch(noop);
  }

  /** Aborts the signal of a message that is gone, if this loop holds it. */
  abort(claim: Claim): void {
    if (this.#claimer.isUnderWay(claim.token)) this.#abortedMeanwhile.push(claim);
    this.leases.abort(claim);
  }

  /** Stops settling and extending leases. Messages still held become ready when their leases end. */
  abandon(): void {
    this.#settler.stop();
    this.leases.stop();
  }

  async #loop(signal: WakeWait): Promise<void> {
    const capacity = this.#capacity;
    // Messages may have become ready before this consumer started, and their signal may have been lost.
    let ready = true;
    let failures = 0;
    while (!this.#stopping) {
      try {
        if (this.#isHalted()) {
          capacity.close();
          return signal.leave();
        }
        if (ready ? !capacity.isOpen : capacity.isFull) {
          signal.leave();
          await (ready ? this.#untilOpen() : capacity.untilNotFull());
        } else {
          ready = ready ? await this.runOnce() : await this.#untilReady(signal);
          this.#streak.worked();
        }
        failures = 0;
      } catch (error) {
        if (this.#stopping) return;
        signal.leave();
        failures++;
        // If the store is not connected, the call has already waited for a connection. Another long pause could outlast the outage.
        const isAway = hasCode(error, 'NOT_CONNECTED', 'LOGIN_REFUSED');
        const pause = failurePause(isAway ? Math.min(failures, MAX_FAILURES_UNCONNECTED) : failures);
        this.#streak.callFailed(error);
        ready = true;
        await this.#pauses.take(pause);
      }
    }
  }

  /** True if this consumer may not claim again until the process ends. */
  #isHalted(): boolean {
    const { queue, runner, events } = this.options;
    const reason = runner.haltReason;
    if (reason === undefined) return false;
    events.emit('halted', { queue, reason });
    return true;
  }

  /** Waits for free slots, and then for the end of the event loop's turn, so that one claim covers all slots freed in that turn. */
  async #untilOpen(): Promise<void> {
    await this.#capacity.untilOpen(() => {
      // Other loops have taken all of this process's slots, but another process may have free ones.
      if (this.#hasSignal) this.#wakeAnother();
      this.#hasSignal = false;
    });
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Waits for a signal or, if the rate is used up, until it allows more, whatever signals come. Returns true when the loop must claim. */
  async #untilReady(signal: WakeWait): Promise<boolean> {
    const { clock, blockTimeout } = this.options;
    if (this.#hasNewLimits) {
      this.#hasNewLimits = false;
      return true;
    }
    if (this.#claimAgainAt === undefined) {
      this.#isIdle = true;
      try {
        return (this.#hasSignal = await signal.wait(blockTimeout));
      } finally {
        this.#isIdle = false;
      }
    }
    signal.leave();
    await this.#pauses.takePunctually(this.#claimAgainAt - clock.monotonic());
    return true;
  }

  /** Passes on a signal. If that fails, the next transfer sends one. */
  #wakeAnother(): void {
    void this.options.store.wake().catch(noop);
  }

  /** True if the next claim may be sent before the handlers of the last one start. */
  get #mayClaimAhead(): boolean {
    const capacity = this.#capacity;
    return capacity.isQuick && capacity.isOpen && !this.#stopping && this.options.runner.haltReason === undefined;
  }

  async #transferAndClaim(limit: number, announcer: Announcer | undefined): Promise<TransferReport | undefined> {
    try {
      const { transfer } = await this.#take(limit, { announcer });
      return transfer;
    } finally {
      this.#transferring = undefined;
      void this.#dispatcher.run();
      // An unanswered claim must be superseded soon, so the loop claims at once. Without a free slot, it leaves signals to other consumers.
      if (this.#claimer.hasUnanswered) this.#signal?.interrupt();
      else if (this.#isIdle && this.#capacity.isFull) this.#signal?.leave();
    }
  }

  /** Claims messages and hands them to the dispatcher. All messages enter here. */
  async #take(limit?: number, besides?: TransferBesides): Promise<Claimed> {
    const reservation = this.#capacity.reserve(limit);
    let claimed: Claimed | undefined;
    let granted: number;
    try {
      claimed = await this.#claimer.claim(reservation.count, besides);
    } finally {
      granted = this.#capacity.end(reservation, claimed?.messages.length ?? 0);
    }
    this.#hasSignal = false;
    this.#claimAgainAt = claimed.claimAgainAt;
    const { lease, messages, answeredAt } = claimed;
    if (messages.length === 0) return claimed;
    this.#signal?.found();
    const deliveries = messages.map((message) => new Delivery(this.options.queue, message, lease));
    this.leases.hold(lease, deliveries);
    for (const claim of this.#abortedMeanwhile.splice(0)) this.abort(claim);
    // The answer came so late that other loops have taken these messages' slots.
    for (const surplus of deliveries.splice(granted)) this.#settler.settle(surplus, RELEASE);
    this.#dispatcher.add(lease, deliveries, answeredAt);
    return claimed;
  }
}
