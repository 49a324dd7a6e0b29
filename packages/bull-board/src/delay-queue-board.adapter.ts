// The package officially exports the type of this class, but the class itself only by its path.
import { BaseAdapter } from '@bull-board/api/dist/queueAdapters/base.js';
import type {
  AppJobScheduler,
  JobCounts,
  JobStatus,
  JobSchedulerUpdateResult,
  ObliterateOptions,
  QueueJobOptions,
  QueueMetrics,
  Status,
} from '@bull-board/api/typings/app';
import {
  DelayQueueError,
  type DelayQueueProducer,
  type MessagePage,
  type MessageSnapshot,
  type MessageState,
  type OfferRequest,
  type OfferResult,
} from 'nestjs-delay-queue';
import { asAnswer, unsupported } from './board-error.js';
import {
  type BoardAdapterOptions,
  type BoardQueue,
  definitionOf,
  handleOf,
  nameOf,
  type QueueHandle,
} from './board-queue.js';
import { MessageJob } from './message-job.js';
import { asOffered, readNewMessage } from './new-message.js';
import { stateOf, STATUSES } from './statuses.js';

const LARGEST_PAGE = 1000;

/**
 * Shows a queue of nestjs-delay-queue on bull-board.
 * @example
 * ```ts
 * createBullBoard({ queues: [new DelayQueueBoardAdapter(producer, 'orders')], serverAdapter });
 * ```
 */
export class DelayQueueBoardAdapter extends BaseAdapter {
  readonly #producer: DelayQueueProducer;
  readonly #queue: string;
  readonly #handle: QueueHandle | undefined;
  /** The partitions that did not answer at the last count. */
  #missing: readonly number[] = [];

  /**
   * @param producer - of the application. The queues of a named instance have its name before theirs, as in `billing:orders`
   * @param queue - its name, the class of a typed queue, or a typed queue as Nest injects it, which checks payloads that are added on the
   *   board
   * @param options - of bull-board: `readOnlyMode`, `displayName`, `description`…
   * @throws DelayQueueError `INVALID_ARGUMENT` if a typed queue belongs to a different instance from the producer
   */
  constructor(producer: DelayQueueProducer, queue: BoardQueue, options: BoardAdapterOptions = {}) {
    // With 'bullmq', the board would ask for what only BullMQ has: flows, priorities, a global concurrency.
    super('bull', { ...options, allowCompletedRetries: false });
    this.#producer = producer;
    this.#queue = nameOf(queue);
    this.#handle = handleOf(queue);
    assertSameInstance(producer, queue);
  }

  getName(): string {
    const { instance } = this.#producer;
    return `${this.prefix}${instance === undefined ? '' : `${instance}:`}${this.#queue}`;
  }

  /** Shown beside the counts, which the board asks for first. */
  override getDescription(): string {
    const own = super.getDescription();
    if (this.#missing.length === 0) return own;
    const note = `Incomplete: partitions ${this.#missing.join(', ')} do not answer.`;
    return own === '' ? note : `${own.replace(/\.$/, '')}. ${note}`;
  }

  getStatuses(): Status[] {
    return ['latest', ...STATUSES];
  }

  getJobStatuses(): JobStatus[] {
    return [...STATUSES];
  }

  async getJobCounts(): Promise<JobCounts> {
    const { active, ready, dead, delayed, missing = [] } = await this.#producer.counts(this.#queue);
    this.#missing = missing;
    const shown = { active, waiting: ready, failed: dead, delayed };
    return { ...shown, latest: 0, completed: 0, paused: 0, prioritized: 0, 'waiting-children': 0 };
  }

  async getJobs(statuses: JobStatus[], start = 0, end = start + LARGEST_PAGE - 1): Promise<MessageJob[]> {
    const states = statuses.map(stateOf).filter((state) => state !== undefined);
    const found = await Promise.all(states.map((state) => this.#list(state, start, end - start + 1)));
    return found.flat().map((message) => new MessageJob(this.#producer, message, this.#handle));
  }

  async getJob(id: string): Promise<MessageJob | null> {
    const message = await this.#producer.find(this.#queue, id);
    return message && new MessageJob(this.#producer, message, this.#handle);
  }

  async addJob(name: string, data: unknown, options: QueueJobOptions): Promise<MessageJob> {
    const message = readNewMessage(name, data, options);
    const result = await this.#offer(message);
    // A message that is due at once may have been handled already.
    return (await this.getJob(result.id)) ?? new MessageJob(this.#producer, asOffered(this.#queue, message, result));
  }

  async clean(status: string): Promise<void> {
    if (status === 'failed') await this.#producer.deadLetters(this.#queue).discardAll();
    else if (status === 'delayed') await this.#forAllDelayed((id) => this.#producer.cancel(this.#queue, id));
    else throw unsupported('Only delayed messages and dead letters can be removed.');
  }

  async promoteAll(): Promise<void> {
    await this.#forAllDelayed((id) => this.#producer.reschedule(this.#queue, id, 0));
  }

  isPaused(): Promise<boolean> {
    return this.#producer.isPaused(this.#queue);
  }

  pause(): Promise<void> {
    return this.#producer.pause(this.#queue);
  }

  resume(): Promise<void> {
    return this.#producer.resume(this.#queue);
  }

  async obliterate({ force = false }: ObliterateOptions = {}): Promise<void> {
    const { active } = await this.#producer.counts(this.#queue);
    // The board recognizes this text, and then offers to do it by force.
    if (active > 0 && !force) throw new Error('Cannot obliterate queue with active jobs');
    await this.#producer.clear(this.#queue);
  }

  empty(): Promise<void> {
    const problem = 'Ready messages cannot be removed on their own.';
    const advice = 'Clean the delayed messages, or pause the queue and obliterate it, which removes all messages.';
    return Promise.reject(unsupported(`${problem} ${advice}`));
  }

  getJobLogs(): Promise<string[]> {
    return Promise.resolve([]);
  }

  /** Returns no metrics, so that the board shows none instead of false zeros. */
  getMetrics(): Promise<QueueMetrics> {
    return Promise.reject(unsupported('A delay queue keeps no metrics of its own.'));
  }

  getRedisInfo(): Promise<null> {
    return Promise.resolve(null);
  }

  getGlobalConcurrency(): Promise<null> {
    return Promise.resolve(null);
  }

  setGlobalConcurrency(): Promise<void> {
    return Promise.reject(unsupported('The concurrency of a queue is an option of its handlers.'));
  }

  getJobSchedulers(): Promise<Omit<AppJobScheduler, 'queueName'>[]> {
    return Promise.resolve([]);
  }

  getJobSchedulersCount(): Promise<number> {
    return Promise.resolve(0);
  }

  removeJobScheduler(): Promise<boolean> {
    return Promise.resolve(false);
  }

  updateJobScheduler(): Promise<JobSchedulerUpdateResult> {
    return Promise.resolve('not-found');
  }

  runJobSchedulerNow(): Promise<'not-found'> {
    return Promise.resolve('not-found');
  }

  async #offer(message: OfferRequest): Promise<OfferResult> {
    try {
      const messages = [message];
      const [result] = await (this.#handle?.offerMany(messages) ?? this.#producer.offerMany(this.#queue, messages));
      return result!;
    } catch (error) {
      throw asAnswer(error);
    }
  }

  async #list(state: MessageState, offset: number, limit: number): Promise<MessageSnapshot[]> {
    const found: MessageSnapshot[] = [];
    let from: { offset: number } | { cursor: string } | undefined = { offset };
    // A page of large messages is shorter than its limit.
    while (from && found.length < limit) {
      const query = { ...from, limit: Math.min(LARGEST_PAGE, limit - found.length) };
      const page: MessagePage = await this.#producer.list(this.#queue, state, query);
      found.push(...page.messages);
      from = page.cursor === null ? undefined : { cursor: page.cursor };
    }
    return found;
  }

  /** Applies to no more messages than there are at the start, so that it ends even if messages are offered all the time. */
  async #forAllDelayed(apply: (id: string) => Promise<boolean>): Promise<void> {
    let { delayed: left } = await this.#producer.counts(this.#queue);
    let cursor: string | undefined;
    while (left > 0) {
      const page = await this.#producer.list(this.#queue, 'delayed', {
        limit: LARGEST_PAGE,
        ...(cursor && { cursor }),
      });
      // With Redisson's layout, messages that only Java knows have no id.
      await Promise.all(page.messages.filter(({ id }) => id !== '').map(({ id }) => apply(id)));
      if (page.cursor === null) return;
      left -= page.messages.length;
      cursor = page.cursor;
    }
  }
}

/** Refuses a queue of another instance. The board would show the queue of the same name in the producer's instance. */
function assertSameInstance(producer: DelayQueueProducer, queue: BoardQueue): void {
  const definition = definitionOf(queue);
  if (!definition || definition.instance === producer.instance) return;
  const expected = definition.instance === undefined ? '' : `'${definition.instance}'`;
  throw new DelayQueueError(
    'INVALID_ARGUMENT',
    `producer: belongs to a different instance from queue '${definition.queue}': pass that of @InjectDelayQueueProducer(${expected})`,
  );
}
