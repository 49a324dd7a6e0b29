import type { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import { againWatch } from '../message/again-watch.js';
import { hasCode } from '../message/failure.js';
import type { ResolvedQueueOptions } from '../options/queue-options-schema.js';
import type { Claim, ConsumerStore, Outcome, Teller, TransferReport } from '../store/consumer-store.js';
import type { Clock } from '../timing/clock.js';
import { setImmediate } from '../timing/event-loop.js';
import { failurePause } from '../timing/failure-pause.js';
import { Pauses } from '../timing/pauses.js';
import { Admission, type SharedByLoops } from './admission.js';
import { type CallStore, type Claimed, Claimer } from './claimer.js';
import { Delivery, MessageAborted, ShuttingDown } from './delivery.js';
import { LeaseKeeper } from './lease-keeper.js';
import type { MessageRunner } from './message-runner.js';
import { NudgedDoorbell } from './nudged-doorbell.js';
import { RELEASE } from './outcomes.js';
import { Pace } from './pace.js';
import { Settler } from './settler.js';
import { Starter } from './starter.js';

/** How many failures in a row count while there is no connection, so that the pause stays below a second. */
const MOST_WHILE_UNCONNECTED = 4;

const noop = () => undefined;

export interface ConsumerLoopOptions {
  readonly queue: string;
  readonly store: ConsumerStore;
  readonly runner: MessageRunner;
  readonly clock: Clock;
  readonly events: Events;
  readonly settings: Pick<ResolvedQueueOptions, 'lease' | 'blockTimeout'> & {
    /** The most messages of one call of a handler. */
    readonly batch: number;
  };
  /** How long the store waits for an answer, ms. */
  readonly answerTimeout: number;
  readonly shared: SharedByLoops;
}

/**
 * Consumes one queue, or one partition of it, in one process: while there are free slots, it waits at the doorbell, claims ready
 * messages, passes them to the handler and settles their outcomes. Errors are logged and never end the loop.
 */
export class ConsumerLoop {
  readonly #claimer: Claimer;
  readonly #keeper: LeaseKeeper;
  readonly #starter: Starter;
  readonly #settler: Settler;
  readonly #streak: FailureStreak;
  readonly #pauses: Pauses;
  readonly #pace = new Pace();
  readonly #admission: Admission;
  #doorbell: NudgedDoorbell | undefined;
  #looping: Promise<unknown> | undefined;
  #stopping = false;
  /** When this consumer has to claim again because the rate of the queue was spent, on the monotonic clock. */
  #claimAgainAt: number | undefined;
  /** Whether this consumer took the token for ready messages, and has not claimed since. */
  #hasToken = false;
  /** Whether it waits at the doorbell, or has not been started. */
  #isIdle = true;
  /** The end of a claim that is under way together with a transfer. */
  #claimingAlong: Promise<void> | undefined;
  /** Messages of the claim that is under way: an announcement may overtake the answer, which comes over another connection. */
  #abortedMeanwhile: Claim[] = [];
  #drained: () => void = noop;

  constructor(private readonly options: ConsumerLoopOptions) {
    const { queue, store, clock, events, settings, answerTimeout, shared } = options;
    const common = { queue, store, clock, events, lease: settings.lease };
    this.#admission = new Admission({ shared, pace: this.#pace, batch: settings.batch });
    this.#streak = new FailureStreak(clock, workFailures(events, 'claim', queue));
    this.#pauses = new Pauses(clock);
    this.#claimer = new Claimer({ ...common, answerTimeout });
    this.#keeper = new LeaseKeeper(common);
    this.#settler = new Settler({ ...common, onSettled: (delivery) => this.#letGo(delivery) });
    this.#starter = new Starter({
      ...common,
      pace: this.#pace,
      share: () => 1 / shared.loops,
      start: (delivery) => this.#start(delivery),
      release: (deliveries) => this.#release(deliveries),
      beforeGivingWay: () => {
        this.#settler.flush();
        this.#claimer.releaseIfLate();
      },
    });
  }

  /** How many messages are claimed, being handled, or not settled yet. */
  get held(): number {
    return this.#keeper.held.size;
  }

  /** Whether it holds messages, or may: a claim was not answered. */
  get mayHold(): boolean {
    return this.held > 0 || this.#claimer.hasUnanswered;
  }

  /** Whether a message is among {@link held}. A linear search, so for rare cases only. */
  holds(id: string): boolean {
    for (const delivery of this.#keeper.held) if (delivery.id === id) return true;
    return false;
  }

  /**
   * Claims what is ready and starts its handlers, without waiting for more.
   *
   * @returns whether messages may be left: those are handled after {@link start}, which reports what keeps failing
   */
  visit(): Promise<boolean> {
    const visit = this.runOnce().catch(() => true);
    this.#looping = visit;
    return visit;
  }

  start(): void {
    const { store, clock, settings } = this.options;
    this.#doorbell = new NudgedDoorbell({
      doorbell: store.openDoorbell(),
      clock,
      longestRest: settings.blockTimeout,
      // If it fails, the next transfer rings.
      passOn: () => void store.ring().catch(noop),
    });
    this.#isIdle = false;
    this.#looping = this.#loop(this.#doorbell);
  }

  /** Messages have been ready for a while. If this consumer waits at the doorbell, it looks. */
  nudge(): void {
    this.#doorbell?.nudge();
  }

  /**
   * Claims ready messages while there are free slots, and starts their handlers. A claim takes half of the slots at most, and
   * the next one is sent before the handlers start, so the server prepares one half while this process handles the other.
   * If handlers are slow to start, the next claim is sent after them, because its messages would only wait here.
   *
   * @returns whether ready messages remain
   * @throws what the store throws
   */
  async runOnce(): Promise<boolean> {
    if (this.#claimingAlong) await this.#claimingAlong;
    for (let claim = this.#claim(); ;) {
      const more = await claim;
      const next = more && this.#mayClaimAhead ? this.#claim() : undefined;
      // It may fail while handlers are being started, before anything awaits it.
      next?.catch(noop);
      await this.#starter.run();
      if (!next) return more;
      claim = next;
    }
  }

  /**
   * Has a transfer claim what is due, if this loop has nothing to do and most of its slots free: they are spared the way over the
   * doorbell. Other claims of this loop wait for it.
   *
   * @param teller - as in {@link ConsumerStore.transferAndClaim}
   * @returns undefined if nothing was changed, and a plain transfer is called for
   * @throws what the store throws
   */
  claimAlong(teller: Teller | undefined): Promise<TransferReport | undefined> | undefined {
    const limit = this.#mayClaimAlong ? this.#admission.inPassing : 0;
    if (limit < 1) return undefined;
    const transfer = this.#claimAlong(teller, limit);
    this.#claimingAlong = transfer.then(noop, noop);
    return transfer;
  }

  /**
   * Stops claiming. Running handlers go on. Claimed messages whose handlers have not started are released, and so is whatever
   * unanswered claims may have taken. Rings for all of them.
   */
  async stopClaiming(): Promise<void> {
    this.#stopping = true;
    this.#starter.stop();
    this.options.runner.stop();
    this.#admission.close();
    this.#pauses.end();
    await this.#doorbell?.close();
    await this.#looping;
    await this.#claimingAlong;
    // A token popped at the last moment must not be lost with this consumer.
    await this.#claimer.releaseUnanswered().catch(noop);
  }

  /** Resolves when nothing is held any more. */
  drained(): Promise<void> {
    return this.held === 0 ? Promise.resolve() : new Promise((resolve) => (this.#drained = resolve));
  }

  /** The message of a claim is gone. If this loop holds it, its handler is told. A linear search, because this is rare. */
  abort(claim: Claim): void {
    const { id, token } = claim;
    if (this.#claimer.isUnderWay(token)) this.#abortedMeanwhile.push(claim);
    for (const delivery of this.#keeper.held) {
      if (delivery.id !== id || delivery.token !== token || delivery.isLost) continue;
      const { queue, type, attempt } = delivery;
      this.#keeper.lose(delivery, new MessageAborted(`Message ${id} was aborted`));
      this.options.events.emit('aborted', { queue, id, type, attempt });
    }
  }

  /** Aborts the signals of the handlers that are still running. */
  abortHandlers(): void {
    for (const delivery of this.#keeper.held) delivery.abort(new ShuttingDown('The application is shutting down'));
  }

  /** Lets go of everything; what is still held comes back when its lease ends. */
  abandon(): void {
    this.#settler.stop();
    this.#keeper.stop();
    againWatch.letGo(this.#keeper.held);
    if (this.held > 0) againWatch.stop();
  }

  async #loop(doorbell: NudgedDoorbell): Promise<void> {
    // Messages may have become ready, and their token lost, before this consumer was there.
    let ready = true;
    let failures = 0;
    while (!this.#stopping) {
      try {
        if (this.#isHalted()) {
          this.#admission.close();
          return doorbell.leave();
        }
        if (ready ? !this.#admission.isOpen : this.#admission.isFull) {
          doorbell.leave();
          if (this.#admission.isFull) this.options.runner.hurry();
          await (ready ? this.#awaitTurn() : this.#admission.awaitSlot());
        } else {
          ready = ready ? await this.runOnce() : await this.#awaitMessages(doorbell);
          this.#streak.worked();
        }
        failures = 0;
      } catch (error) {
        if (this.#stopping) return;
        doorbell.leave();
        failures++;
        // A store that is not connected has already waited; another long pause would outlast the outage.
        const isAway = hasCode(error, 'NOT_CONNECTED', 'LOGIN_REFUSED');
        const pause = failurePause(isAway ? Math.min(failures, MOST_WHILE_UNCONNECTED) : failures);
        this.#streak.callFailed(error);
        ready = true;
        await this.#pauses.take(pause);
      }
    }
  }

  /** Whether this consumer must not claim any more, for as long as the process runs. */
  #isHalted(): boolean {
    const { queue, runner, events } = this.options;
    const reason = runner.haltReason;
    if (reason === undefined) return false;
    events.emit('halted', { queue, reason });
    return true;
  }

  /** Waits for free slots, and then for the end of the turn, so that one claim covers all slots freed in that turn. */
  async #awaitTurn(): Promise<void> {
    await this.#admission.awaitTurn(() => this.#passTokenOn());
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** The other loops have taken all slots; another process may have some. */
  #passTokenOn(): void {
    if (!this.#hasToken) return;
    this.#hasToken = false;
    // If it fails, the next transfer rings.
    void this.options.store.ring().catch(noop);
  }

  /** @returns whether to claim: the doorbell rang, or the rate allows more. Until it does, no ring could change anything. */
  async #awaitMessages(doorbell: NudgedDoorbell): Promise<boolean> {
    const { clock, settings } = this.options;
    if (this.#claimAgainAt === undefined) {
      this.#isIdle = true;
      try {
        return (this.#hasToken = await doorbell.wait(settings.blockTimeout));
      } finally {
        this.#isIdle = false;
      }
    }
    doorbell.leave();
    await this.#pauses.takePunctually(this.#claimAgainAt - clock.monotonic());
    return true;
  }

  /** Whether the next claim may be sent before the handlers of the last one start. */
  get #mayClaimAhead(): boolean {
    const { runner } = this.options;
    return this.#pace.isQuick && this.#admission.isOpen && !this.#stopping && runner.haltReason === undefined;
  }

  /** A claim without an answer has to be succeeded, which a transfer cannot do. */
  get #mayClaimAlong(): boolean {
    const { store, runner } = this.options;
    if (!store.transferAndClaim || !this.#isIdle || this.#claimingAlong || this.#stopping) return false;
    return !this.#claimer.hasUnanswered && runner.haltReason === undefined;
  }

  async #claimAlong(teller: Teller | undefined, limit: number): Promise<TransferReport | undefined> {
    let report: TransferReport | undefined;
    try {
      await this.#claim(limit, async (request) => {
        const both = await this.options.store.transferAndClaim!(request, teller);
        report = both?.report;
        return both?.claimed;
      });
      return report;
    } finally {
      this.#claimingAlong = undefined;
      void this.#starter.run();
      // A claim without an answer is succeeded by the next one; without a free slot, a ring is for others.
      if (this.#claimer.hasUnanswered) this.nudge();
      else if (this.#isIdle && this.#admission.isFull) this.#doorbell?.leave();
    }
  }

  /** @returns whether ready messages remain */
  async #claim(limit?: number, call?: CallStore): Promise<boolean> {
    const loan = this.#admission.begin(limit);
    let claimed: Claimed | undefined;
    let granted: number;
    try {
      claimed = await this.#claimer.claim(loan.count, call);
    } finally {
      granted = this.#admission.end(loan, claimed?.messages.length ?? 0);
    }
    this.#hasToken = false;
    this.#claimAgainAt = claimed.claimAgainAt;
    if (claimed.messages.length > 0) this.#take(claimed, granted);
    return claimed.more;
  }

  /** Has the handlers of claimed messages started, as far as they have slots. */
  #take({ lease, messages, answeredAt }: Claimed, granted: number): void {
    this.#doorbell?.found();
    const deliveries = messages.map((message) => new Delivery(this.options.queue, message, lease));
    this.#keeper.hold(lease, deliveries);
    againWatch.hold(this.#keeper.held);
    for (const claim of this.#abortedMeanwhile.splice(0)) this.abort(claim);
    // The answer came so late that others have the slots of these.
    for (const surplus of deliveries.splice(granted)) this.#settler.settle(surplus, RELEASE);
    this.#starter.add(lease, deliveries, answeredAt);
  }

  #start(delivery: Delivery): void {
    const outcome = this.options.runner.run(delivery);
    if (outcome instanceof Promise) void outcome.then((known) => this.#settle(delivery, known));
    else this.#settle(delivery, outcome);
  }

  #release(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) this.#settle(delivery, RELEASE);
    this.#settler.flush();
  }

  #settle(delivery: Delivery, outcome: Outcome): void {
    this.options.shared.slots.vacate();
    this.#settler.settle(delivery, delivery.repetition ? delivery.repetition.goOn(outcome) : outcome);
  }

  #letGo(delivery: Delivery): void {
    this.#keeper.letGo(delivery);
    if (this.held > 0) return;
    againWatch.letGo(this.#keeper.held);
    this.#drained();
  }
}
