import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import { HandlerRegistry } from '../handler/handler-registry.js';
import type { DelayedMessageHandler } from '../handler/delayed-message-handler.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { hasCode, showFailure } from '../message/failure.js';
import { NO_TYPE } from '../message/message-type.js';
import { isFamily } from '../message/queue-family.js';
import type { HandlerRepeat } from '../options/queue-options.js';
import { CLOCK } from '../runtime/delay-queue-tokens.js';
import type { StartTask } from '../runtime/start-task.js';
import type { Clock } from '../timing/clock.js';
import { failurePause } from '../timing/failure-pause.js';
import { Pauses } from '../timing/pauses.js';
import { Repeats } from './repeats.js';

interface Declared {
  readonly queue: string;
  readonly handler: DelayedMessageHandler;
  readonly repeat: HandlerRepeat;
}

/** What no later attempt would accept. */
const MISTAKES = [
  'INVALID_ARGUMENT',
  'INVALID_OPTION',
  'INVALID_PAYLOAD',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_BY_LAYOUT',
] as const;

/** Offers the messages that repeat for the handlers of this process, once these have started. */
@Injectable()
export class DeclaredRepeats implements StartTask, OnModuleDestroy {
  readonly #pauses: Pauses;
  #stopped = false;

  constructor(
    private readonly handlers: HandlerRegistry,
    private readonly repeats: Repeats,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly events: Events,
  ) {
    this.#pauses = new Pauses(clock);
  }

  /**
   * The application starts even if messages cannot be offered yet: they are offered later.
   *
   * @throws DelayQueueError `INVALID_OPTION` for a mistake
   */
  async run(): Promise<void> {
    const declared = this.handlers
      .handled()
      .flatMap(({ name: queue, handlers }) =>
        [...handlers.values()].flatMap((handler) =>
          handler.repeat ? [{ queue, handler, repeat: handler.repeat }] : [],
        ),
      );
    await Promise.all(declared.map((each) => this.#begin(each)));
  }

  onModuleDestroy(): void {
    this.#stopped = true;
    this.#pauses.end();
  }

  async #begin(declared: Declared): Promise<void> {
    try {
      await this.#offer(declared);
    } catch (error) {
      if (hasCode(error, ...MISTAKES)) throw mistaken(declared.handler, error);
      void this.#offerLater(declared, error);
    }
  }

  async #offerLater(declared: Declared, error: unknown): Promise<void> {
    const streak = new FailureStreak(this.clock, workFailures(this.events, 'repeat', declared.queue));
    let failure = error;
    for (let failures = 1; !this.#stopped && !hasCode(failure, 'CLOSED'); failures++) {
      streak.callFailed(failure);
      await this.#pauses.take(failurePause(failures));
      if (this.#stopped) return;
      try {
        await this.#offer(declared);
        return streak.worked();
      } catch (again) {
        failure = again;
      }
    }
  }

  async #offer({ queue, handler, repeat }: Declared): Promise<void> {
    const { type, check } = handler;
    const { id = type === NO_TYPE ? 'repeat' : `repeat:${type}`, payload = {}, ...options } = repeat;
    if (isFamily(queue)) throw new DelayQueueError('INVALID_OPTION', 'a family of queues cannot have it; name a queue');
    await this.repeats.repeat(queue, { id, type, options, payload, check });
  }
}

function mistaken({ name }: DelayedMessageHandler, error: unknown): DelayQueueError {
  const problem = `@DelayedHandler on ${name}: repeat: ${showFailure(error)}`;
  return new DelayQueueError('INVALID_OPTION', problem, { cause: error });
}
