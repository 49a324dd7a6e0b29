import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import { type QueueDirectory, REGISTRATION_VALID } from '../store/queue-directory.js';
import type { CancelTimer, Clock } from '../timing/clock.js';
import { atMost, failurePause } from '../timing/pauses.js';
import type { Stores } from './create-stores.js';
import { CLOCK, RESOLVED_OPTIONS, STORES } from './delay-queue-tokens.js';
import { MisspeltNames } from './misspelt-names.js';

/** How much later than its timeout a call may take effect, ms: its deadline by Redis' clock is only an estimate. */
const LAG = 5000;

/** The number of registrations remembered. A forgotten queue is merely registered again. */
const MAX_REMEMBERED = 10_000;

/** How long offers wait for a registration, ms. The directory may be on a shard that does not answer, while the messages are on others. */
const MAX_WAIT = 1000;

interface Remembered {
  /** Until when the queue need not be registered again, on the monotonic clock. */
  readonly until: number;
  /** Present until the registration is answered, or until offers no longer wait for it. */
  answer?: Promise<void> | undefined;
}

/**
 * Registers queues before this process offers to them, and remembers each registration for a while. Each registration costs two commands,
 * at most every two minutes per queue.
 *
 * An offer is sent right after the registration and acknowledged after it, so an acknowledged message is in a registered queue. A
 * registration that is slow or fails must not hold up the offer, so it is soon repeated until it works. If the process dies before that,
 * nobody finds a family's message whose announcement was missed.
 */
@Injectable()
export class QueueRegistrar implements OnModuleDestroy {
  readonly #directory: QueueDirectory;
  readonly #streak: FailureStreak;
  readonly #memory: number;
  /** Registrations, in the order in which they end. */
  readonly #remembered = new Map<string, Remembered>();
  /** Queues whose registration failed. */
  readonly #owed = new Set<string>();
  /** Queues and families that this process handles and has not registered yet. */
  #handled: readonly string[] = [];
  #cancelRetry: CancelTimer | undefined;
  /** Number of consecutive failures. */
  #failures = 0;
  #hasStarted = false;
  #stopped = false;

  constructor(
    @Inject(STORES) { directory }: Pick<Stores, 'directory'>,
    @Inject(RESOLVED_OPTIONS) { offerTimeout }: Pick<ResolvedModuleOptions, 'offerTimeout'>,
    @Inject(CLOCK) private readonly clock: Clock,
    events: Events,
    private readonly misspeltNames: MisspeltNames,
  ) {
    this.#directory = directory;
    this.#memory = REGISTRATION_VALID - offerTimeout - LAG;
    this.#streak = new FailureStreak(clock, workFailures(events, 'register'));
  }

  /**
   * Registers a queue before messages are added to it, unless it was registered recently. The messages need not wait: the registration is
   * sent before anything else in this turn. Returns a promise that their acknowledgement must await, if any; it never rejects.
   */
  register(queue: string): Promise<void> | undefined {
    const now = this.clock.monotonic();
    const known = this.#remembered.get(queue);
    if (known && now < known.until) return known.answer;
    const isOwed = this.#owed.has(queue);
    if (isOwed && this.#cancelRetry) return undefined;
    const remembered: Remembered = { until: now + this.#memory };
    const sent = this.#send(queue, remembered);
    this.#remember(queue, remembered);
    // A registration that has failed may fail again, so offers do not wait for it.
    if (isOwed) return undefined;
    remembered.answer = atMost(this.clock, MAX_WAIT, sent).then(() => {
      remembered.answer = undefined;
    });
    return remembered.answer;
  }

  /**
   * Called when the application has started. Registers the handled queues and families in the background. Until then, failed
   * registrations are not retried, because retries would keep alive a process that has failed to start.
   */
  started(handled: readonly string[]): void {
    this.#hasStarted = true;
    this.#handled = handled;
    void this.#sendHandled();
    for (const owed of this.#owed) void this.register(owed);
  }

  onModuleDestroy(): void {
    this.#stopped = true;
    this.#cancelRetry?.();
  }

  async #send(queue: string, remembered: Remembered): Promise<void> {
    try {
      await this.#directory.register(queue);
      this.#owed.delete(queue);
      this.#worked();
    } catch (error) {
      if (this.#remembered.get(queue) === remembered) this.#remembered.delete(queue);
      if (this.#owed.size < MAX_REMEMBERED) this.#owed.add(queue);
      this.#failed(error);
      return;
    }
    this.misspeltNames.offered(queue);
  }

  async #sendHandled(): Promise<void> {
    if (this.#handled.length === 0) return;
    try {
      await this.#directory.registerHandled(this.#handled);
      this.#handled = [];
      this.#worked();
    } catch (error) {
      this.#failed(error);
    }
  }

  #remember(queue: string, remembered: Remembered): void {
    // A map keeps insertion order, so the latest registration must be inserted last.
    this.#remembered.delete(queue);
    this.#remembered.set(queue, remembered);
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(this.#remembered.keys().next().value!);
  }

  #worked(): void {
    this.#failures = 0;
    if (this.#owed.size === 0 && this.#handled.length === 0) this.#streak.worked();
  }

  #failed(error: unknown): void {
    if (this.#stopped) return;
    this.#streak.callFailed(error);
    if (!this.#hasStarted) return;
    this.#cancelRetry ??= this.clock.schedule(() => {
      this.#cancelRetry = undefined;
      void this.#sendHandled();
      for (const owed of this.#owed) void this.register(owed);
    }, failurePause(++this.#failures));
  }
}
