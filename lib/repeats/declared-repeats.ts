import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import { type DelayedMessageHandler, HandlerRegistry } from '../handler/handler-registry.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { hasCode, showFailure } from '../message/failure.js';
import { NO_TYPE } from '../message/message-id.js';
import { isFamily } from '../message/queue-name.js';
import type { HandlerRepeat } from '../options/queue-options.js';
import type { Stores } from '../runtime/create-stores.js';
import { CLOCK, RANDOM, type StartTask, STORES } from '../runtime/delay-queue-tokens.js';
import { Queues } from '../runtime/queues.js';
import type { DeclaredRepeat } from '../store/native/repeat-marks.js';
import type { Clock } from '../timing/clock.js';
import { failurePause, Pauses } from '../timing/pauses.js';
import { Repeats } from './repeats.js';

interface Declared {
  readonly queue: string;
  readonly handler: DelayedMessageHandler;
  readonly repeat: HandlerRepeat;
}

/** Errors that trying again cannot fix. */
const MISTAKES = [
  'INVALID_ARGUMENT',
  'INVALID_OPTION',
  'INVALID_PAYLOAD',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_BY_LAYOUT',
] as const;

/**
 * Offers the repeating messages that this process's handlers declare, once the handlers have started. Then checks each message every
 * `checkInterval` of its queue, and offers it again if Redis has lost its data. A cancelled message stays cancelled.
 */
@Injectable()
export class DeclaredRepeats implements StartTask, OnModuleDestroy {
  readonly #pauses: Pauses;
  #stopped = false;

  constructor(
    private readonly handlers: HandlerRegistry,
    private readonly repeats: Repeats,
    private readonly queues: Queues,
    @Inject(STORES) private readonly stores: Pick<Stores, 'repeatMarks'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: () => number,
    private readonly events: Events,
  ) {
    this.#pauses = new Pauses(clock);
  }

  /**
   * Offers the declared messages. If that fails, the application still starts, and they are offered later.
   * @throws DelayQueueError `INVALID_OPTION` for a mistake in a declaration
   */
  async run(): Promise<void> {
    const declared = this.handlers
      .handled()
      .flatMap(({ name: queue, handlers }) =>
        [...handlers.values()].flatMap((handler) =>
          handler.repeat ? [{ queue, handler, repeat: handler.repeat }] : [],
        ),
      );
    try {
      await Promise.all(declared.map((each) => this.#begin(each)));
    } catch (error) {
      // Nest does not call onModuleDestroy() if the application fails to start.
      this.onModuleDestroy();
      throw error;
    }
  }

  onModuleDestroy(): void {
    this.#stopped = true;
    this.#pauses.end();
  }

  async #begin(declared: Declared): Promise<void> {
    try {
      await this.#offer(declared);
      void this.#keep(declared);
    } catch (error) {
      if (hasCode(error, ...MISTAKES)) throw mistaken(declared.handler, error);
      void this.#keep(declared, error);
    }
  }

  /** @param failure - the error of the first offer; undefined if that succeeded */
  async #keep(declared: Declared, failure?: unknown): Promise<void> {
    const { queue } = declared;
    const streak = new FailureStreak(this.clock, workFailures(this.events, 'repeat', queue));
    let isOffered = failure === undefined;
    let failures = isOffered ? 0 : 1;
    if (!isOffered) streak.callFailed(failure);
    while (failures > 0 || this.stores.repeatMarks) {
      await this.#pauses.take(failures > 0 ? failurePause(failures) : this.#untilCheck(queue));
      if (this.#stopped) return;
      try {
        await (isOffered ? this.#check(declared) : this.#offer(declared));
        [isOffered, failures] = [true, 0];
        streak.worked();
      } catch (error) {
        if (hasCode(error, 'CLOSED')) return;
        failures++;
        streak.callFailed(error);
      }
    }
  }

  /** Returns the time until the next check: `checkInterval`, or up to a quarter less, so that processes check at different times. */
  #untilCheck(queue: string): number {
    return this.queues.get(queue).options.checkInterval * (1 - this.random() / 4);
  }

  /** Offers the message again if it has been lost together with its mark. */
  async #check(declared: Declared): Promise<void> {
    if (this.#isOver(declared.repeat) || (await this.stores.repeatMarks?.has(this.#markOf(declared)))) return;
    await this.#offer(declared);
    const { queue } = declared;
    this.events.note('repeat-lost', { queue, id: idOf(declared) });
  }

  async #offer(declared: Declared): Promise<void> {
    const { queue, handler, repeat } = declared;
    const { type, check } = handler;
    const { id = idOf(declared), payload = {}, ...options } = repeat;
    if (isFamily(queue)) throw new DelayQueueError('INVALID_OPTION', 'a family of queues cannot have it; name a queue');
    if (options.limit !== undefined) {
      const advice = 'use endsAt, or producer.repeat';
      throw new DelayQueueError('INVALID_OPTION', `limit: a process that starts after it would begin anew; ${advice}`);
    }
    if (this.#isOver(repeat)) return;
    await this.repeats.repeat(this.queues.get(queue), { id, type, options, payload, check });
    await this.stores.repeatMarks?.set(this.#markOf(declared));
  }

  /** True if the rule has an end that has passed. Such a rule is not a mistake: it may have been in force when it was deployed. */
  #isOver({ endsAt }: HandlerRepeat): boolean {
    return endsAt instanceof Date && endsAt.getTime() < this.clock.wall();
  }

  #markOf(declared: Declared): DeclaredRepeat {
    const { queue } = declared;
    return { queue, id: idOf(declared), partitions: this.queues.get(queue).router.changes?.partitions ?? 1 };
  }
}

function idOf({ handler: { type }, repeat }: Declared): string {
  return repeat.id ?? (type === NO_TYPE ? 'repeat' : `repeat:${type}`);
}

function mistaken({ name }: DelayedMessageHandler, error: unknown): DelayQueueError {
  const problem = `@DelayedHandler on ${name}: repeat: ${showFailure(error)}`;
  return new DelayQueueError('INVALID_OPTION', problem, { cause: error });
}
