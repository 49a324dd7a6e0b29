import type { JobState, QueueJob, QueueJobJson } from '@bull-board/api/typings/app';
import type {
  ComputedBackoff,
  DelayQueueProducer,
  MessageChange,
  MessageSnapshot,
  RepeatRule,
} from 'nestjs-delay-queue';
import { asAnswer, tooLate, unsupported } from './board-error.js';
import type { QueueHandle } from './board-queue.js';
import { shownPayload } from './shown-payload.js';
import { STATUS_OF } from './statuses.js';

/** The board's name for jobs without a name. */
export const NO_NAME = '__default__';

/** A message as the board shows it and acts on it. */
export class MessageJob implements QueueJob {
  readonly id: string;
  readonly opts: {
    delay: number;
    headers?: object;
    group?: string;
    attempts?: number;
    backoff?: ComputedBackoff;
    expiresAt?: Date;
    repeat?: RepeatRule;
  };
  readonly #producer: DelayQueueProducer;
  readonly #message: MessageSnapshot;
  readonly #handle: QueueHandle | undefined;

  /** @param handle - of the queue, to check payloads */
  constructor(producer: DelayQueueProducer, message: MessageSnapshot, handle?: QueueHandle) {
    this.#producer = producer;
    this.#message = message;
    this.#handle = handle;
    const { id, dueAt, offeredAt, headers, group, attempts, backoff, expiresAt, repeat } = message;
    this.id = id;
    this.opts = {
      delay: Math.max(0, dueAt.getTime() - offeredAt.getTime()),
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(group !== undefined && { group }),
      ...(attempts !== undefined && { attempts }),
      ...(backoff && { backoff }),
      ...(expiresAt && { expiresAt }),
      ...(repeat && { repeat }),
    };
  }

  toJSON(): QueueJobJson {
    const { id, type, payload, failedAttempts, dueAt, offeredAt, diedAt, error } = this.#message;
    return {
      id,
      name: type || NO_NAME,
      data: shownPayload(payload),
      opts: this.opts,
      timestamp: offeredAt.getTime(),
      delay: this.opts.delay,
      attemptsMade: failedAttempts,
      progress: 0,
      returnvalue: null,
      failedReason: error ? `${error.name}: ${error.message}` : '',
      stacktrace: error?.stack ? [error.stack] : [],
      // Without a start, the board counts from 1970. The due time of the last attempt is the nearest known time.
      ...(diedAt && { processedOn: dueAt.getTime(), finishedOn: diedAt.getTime() }),
    };
  }

  getState(): Promise<JobState> {
    return Promise.resolve(STATUS_OF[this.#message.state]);
  }

  async promote(): Promise<void> {
    await this.changeDelay(0);
  }

  async changeDelay(delay: number): Promise<void> {
    const { queue, id } = this.#message;
    if (await this.#producer.reschedule(queue, id, Math.round(delay))) return;
    throw tooLate(id, 'is no longer delayed: it has fallen due or was removed.');
  }

  async retry(): Promise<void> {
    const { queue, id } = this.#message;
    if (await this.#producer.deadLetters(queue).redrive(id)) return;
    throw tooLate(id, 'is no longer a dead letter: it was redriven or discarded.');
  }

  async remove(): Promise<void> {
    const { queue, id, state } = this.#message;
    if (state === 'dead') {
      if (await this.#producer.deadLetters(queue).discard(id)) return;
      throw tooLate(id, 'is no longer a dead letter: it was redriven or discarded.');
    }
    if (await this.#producer.cancel(queue, id)) return;
    throw tooLate(id, 'has fallen due. Only delayed messages and dead letters can be removed.');
  }

  /** Changes the payload of a delayed message, and keeps its due time. */
  async updateData(payload: unknown): Promise<void> {
    const { queue, id, type, dueAt, payload: before } = this.#message;
    if (Buffer.isBuffer(before)) throw unsupported('A payload of bytes cannot be changed here.');
    const change = { payload, ...(type && { type }) };
    if (await this.#reschedule(queue, id, dueAt, change)) return;
    throw tooLate(id, 'has fallen due. Only the payload of a delayed message can be changed.');
  }

  async #reschedule(queue: string, id: string, dueAt: Date, change: MessageChange): Promise<boolean> {
    try {
      if (this.#handle) return await this.#handle.reschedule(id, dueAt, change);
      return await this.#producer.reschedule(queue, id, dueAt, change);
    } catch (error) {
      throw asAnswer(error);
    }
  }
}
