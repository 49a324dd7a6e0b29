import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { MatchReport, MessageFilter, StepOptions } from 'nestjs-delay-queue';
import type { JobAction, JobAnswer, JobBody, JobView, ReportView } from './api.js';
import type { Audit } from './audit.js';
import { type Call, readDue, readObject, readQuery, readText } from './call.js';
import { readFilter } from './filters.js';
import type { BoardInstance } from './instances.js';
import { badRequest, notFound, Problem, problemOf } from './problem.js';

/** How many jobs are kept, to be asked for their result. */
const MAX_KEPT = 100;
const MAX_RUNNING = 20;
const MAX_IDS = 1000;
/** How many messages of a list of ids are changed at once. */
const STEP = 50;

const STATE_OF = { cancel: 'delayed', reschedule: 'delayed', redrive: 'dead', discard: 'dead' } as const;
const ACTIONS: readonly unknown[] = ['count', ...Object.keys(STATE_OF)] satisfies (JobAction | string)[];

const EMPTY: ReportView = { matched: 0, changed: 0, movedOn: 0, examined: 0, isComplete: false };

interface Work {
  readonly action: JobAction;
  readonly queue: string;
  readonly filter?: MessageFilter;
  readonly ids?: readonly string[];
  /** For `reschedule`. */
  readonly due: Date | number;
}

class Job {
  readonly id: string = randomUUID();
  readonly startedAt = new Date();
  readonly stop = new AbortController();
  state: JobView['state'] = 'running';
  report: ReportView = EMPTY;
  error: string | undefined;
  endedAt: Date | undefined;
  done: Promise<void> = Promise.resolve();

  constructor(
    readonly instance: string,
    private readonly work: Work,
  ) {}

  get view(): JobView {
    const { queue, action } = this.work;
    return {
      id: this.id,
      queue,
      action,
      state: this.state,
      report: this.report,
      ...(this.error !== undefined && { error: this.error }),
      startedAt: this.startedAt.toISOString(),
      ...(this.endedAt && { endedAt: this.endedAt.toISOString() }),
    };
  }
}

/** Changes of many messages, which run in this process and go on without the page. */
export class Jobs {
  readonly #logger = new Logger('DelayQueueBoard');
  readonly #jobs = new Map<string, Job>();

  constructor(
    private readonly audit: Audit,
    private readonly isRedacted: boolean,
  ) {}

  /** `POST …/jobs` */
  async start(call: Call): Promise<JobAnswer> {
    const work = this.#readWork(call.params.queue!, await call.body());
    const who = await this.audit.who(call);
    const running = [...this.#jobs.values()].filter(({ state }) => state === 'running');
    if (running.length >= MAX_RUNNING) {
      throw new Problem(503, 'TOO_MANY', `${MAX_RUNNING} jobs are running already. Stop one, or wait.`);
    }
    const run = begin(call.instance, work);
    const job = new Job(call.instance.name, work);
    this.#keep(job);
    job.done = this.#run(job, work, { who, run });
    return { job: job.view };
  }

  /** `GET …/jobs/:job` */
  get(call: Call): JobAnswer {
    readQuery(call.query, []);
    return { job: this.#find(call).view };
  }

  /** `DELETE …/jobs/:job` */
  async stop(call: Call): Promise<JobAnswer> {
    const job = this.#find(call);
    job.stop.abort();
    await job.done;
    return { job: job.view };
  }

  /** Stops all jobs, and waits until they have ended. */
  async close(): Promise<void> {
    const jobs = [...this.#jobs.values()];
    for (const job of jobs) job.stop.abort();
    await Promise.all(jobs.map(({ done }) => done));
  }

  #readWork(queue: string, body: unknown): Work {
    const { action, ids, ...given } = readObject<JobBody>(body, 'The body', ['action', 'filter', 'ids', 'due']);
    if (!ACTIONS.includes(action)) throw badRequest(`action must be one of ${ACTIONS.join(', ')}.`);
    const work = { action: action!, queue, due: action === 'reschedule' ? readDue(given.due, 'due') : 0 };
    if ((given.filter === undefined) === (ids === undefined))
      throw badRequest('The body must have either filter or ids.');
    if (ids !== undefined) {
      if (action === 'count') throw badRequest('count needs a filter.');
      return { ...work, ids: readIds(ids) };
    }
    const filter = readFilter(given.filter, this.isRedacted);
    const state = action === 'count' ? filter.state : STATE_OF[action!];
    if (filter.state !== state) throw badRequest(`${action} needs a filter with state '${state}'.`);
    return { ...work, filter };
  }

  #find({ params, instance }: Call): Job {
    const job = this.#jobs.get(params.job!);
    if (job?.instance === instance.name) return job;
    throw notFound('There is no such job in this process. It may be too old, or have run in another process.');
  }

  #keep(job: Job): void {
    const ended = [...this.#jobs.values()].filter(({ state }) => state !== 'running');
    for (const old of ended.slice(0, Math.max(0, this.#jobs.size + 1 - MAX_KEPT))) this.#jobs.delete(old.id);
    this.#jobs.set(job.id, job);
  }

  async #run(job: Job, work: Work, { who, run }: { who: string | undefined; run: Run }): Promise<void> {
    const { action, queue, ids, filter } = work;
    const subject =
      action === 'count'
        ? undefined
        : { who, action, instance: job.instance, queue, ...(ids && { ids }), ...(filter && { filter }) };
    if (subject) this.audit.begin(subject, job.id);
    try {
      const onProgress = (report: ReportView) => {
        job.report = report;
      };
      job.report = await run({ signal: job.stop.signal, onProgress });
      job.state = job.stop.signal.aborted && !job.report.isComplete ? 'stopped' : 'done';
    } catch (error) {
      job.state = job.stop.signal.aborted ? 'stopped' : 'failed';
      if (job.state === 'failed') job.error = problemOf(error)?.message ?? 'The log of the application says why.';
      if (!problemOf(error))
        this.#logger.error('A job of the board has failed', error instanceof Error ? error.stack : String(error));
    }
    job.endedAt = new Date();
    if (!subject) return;
    const error = job.state === 'stopped' ? 'It was stopped.' : job.error;
    this.audit.report({
      ...subject,
      count: job.report.changed,
      ...(error !== undefined && { error }),
      at: job.endedAt,
    });
  }
}

type Following = { readonly [Option in keyof StepOptions]-?: NonNullable<StepOptions[Option]> };

type Run = (options: Following) => Promise<MatchReport>;

/** Checks the arguments of a job's work, and returns what to call to do it. */
function begin({ producer }: BoardInstance, work: Work): Run {
  const { queue, action, filter, ids, due } = work;
  if (filter) {
    const messages = producer.matching(queue, filter);
    return (options) => (action === 'reschedule' ? messages.reschedule(due, options) : messages[action](options));
  }
  const letters = producer.deadLetters(queue);
  const change = {
    cancel: (id: string) => producer.cancel(queue, id),
    reschedule: (id: string) => producer.reschedule(queue, id, due),
    redrive: (id: string) => letters.redrive(id),
    discard: (id: string) => letters.discard(id),
  }[action as Exclude<JobAction, 'count'>];
  return (options) => changeEach(ids!, change, options);
}

/** Changes the messages with these ids. */
async function changeEach(
  ids: readonly string[],
  change: (id: string) => Promise<boolean>,
  { signal, onProgress }: Following,
): Promise<ReportView> {
  let report: ReportView = { ...EMPTY, matched: ids.length };
  for (let i = 0; i < ids.length && !signal.aborted; i += STEP) {
    const results = await Promise.allSettled(ids.slice(i, i + STEP).map(change));
    const changed = results.filter((result) => result.status === 'fulfilled' && result.value).length;
    const movedOn = results.filter((result) => result.status === 'fulfilled' && !result.value).length;
    report = {
      ...report,
      changed: report.changed + changed,
      movedOn: report.movedOn + movedOn,
      examined: report.examined + results.length,
      isComplete: i + STEP >= ids.length,
    };
    onProgress(report);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason as Error;
  }
  return report;
}

function readIds(value: unknown): string[] {
  if (!Array.isArray(value) || value.length < 1 || value.length > MAX_IDS) {
    throw badRequest('ids must be a list of 1 to 1,000 ids.');
  }
  return [...new Set(value.map((id, i) => readText(id, `ids[${i}]`)))];
}
