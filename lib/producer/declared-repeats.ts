import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Events } from '../events/events.js';
import { FailureStreak, workFailures } from '../events/failure-streak.js';
import { HandlerRegistry } from '../handler/handler-registry.js';
import type { DelayedMessageHandler } from '../handler/delayed-message-handler.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { hasCode, showFailure } from '../message/failure.js';
import { NO_TYPE } from '../message/message-type.js';
import { isFamily } from '../message/queue-family.js';
import type { HandlerRepeat } from '../options/repeat-options.js';
import { CLOCK } from '../runtime/delay-queue-tokens.js';
import type { StartTask } from '../runtime/start-task.js';
import type { Clock } from '../timing/clock.js';
import { failurePause } from '../timing/failure-pause.js';
import { Pauses } from '../timing/pauses.js';
import { Repeats } from './repeats.js';

/** Offers the messages that repeat for the handlers of this process, once these have started. */
@Injectable()
export class DeclaredRepeats implements StartTask, OnModuleDestroy {
  readonly #pauses: Pauses;
  readonly #streak: FailureStreak;
  #stopped = false;

  constructor(
    private readonly handlers: HandlerRegistry,
    private readonly repeats: Repeats,
    @Inject(CLOCK) clock: Clock,
    events: Events,
  ) {
    this.#pauses = new Pauses(clock);
    this.#streak = new FailureStreak(clock, workFailures(events, 'repeat'));
  }

  /** @throws DelayQueueError `INVALID_OPTION` for what no later attempt would accept */
  async run(): Promise<void> {
    const declared = this.handlers
      .handled()
      .flatMap(({ name: queue, handlers }) =>
        [...handlers.values()].flatMap((handler) =>
          handler.repeat ? [{ queue, handler, repeat: handler.repeat }] : [],
        ),
      );
    for (const each of declared) await this.#offer(each);
  }

  onModuleDestroy(): void {
    this.#stopped = true;
    this.#pauses.end();
  }

  /** @throws DelayQueueError `INVALID_OPTION` */
  async #offer(declared: Declared, failures = 0): Promise<void> {
    const { queue, handler, repeat } = declared;
    const { id = handler.type === NO_TYPE ? 'repeat' : `repeat:${handler.type}`, payload = {}, ...options } = repeat;
    try {
      if (isFamily(queue))
        throw new DelayQueueError('INVALID_OPTION', 'a family of queues cannot have it; name a queue');
      await this.repeats.repeat(queue, { id, type: handler.type, options, payload, check: handler.check });
      this.#streak.worked();
    } catch (error) {
      if (hasCode(error, ...MISTAKES)) throw mistaken(handler, error);
      if (this.#stopped || hasCode(error, 'CLOSED')) return;
      this.#streak.failed(showFailure(error));
      // The application starts meanwhile.
      void this.#pauses.take(failurePause(failures + 1)).then(() => this.#again(declared, failures + 1));
    }
  }

  async #again(declared: Declared, failures: number): Promise<void> {
    if (this.#stopped) return;
    try {
      await this.#offer(declared, failures);
    } catch (error) {
      this.#streak.failed(showFailure(error));
    }
  }
}

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

function mistaken({ name }: DelayedMessageHandler, error: unknown): DelayQueueError {
  return new DelayQueueError('INVALID_OPTION', `@DelayedHandler on ${name}: repeat: ${showFailure(error)}`, {
    cause: error,
  });
}
