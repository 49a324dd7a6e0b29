import type { DelayQueueProducer, OfferResult } from 'nestjs-delay-queue';
import type {
  ChangedView,
  CountView,
  ErrorListView,
  GroupConcurrencyBody,
  GroupListView,
  HistogramView,
  LimitsBody,
  LimitsView,
  RepeatListView,
  RunView,
  WorkerListView,
} from './api.js';
import type { Audit } from './audit.js';
import { type Call, readNumber, readObject, readQuery, readTime } from './call.js';
import { ruleView } from './message-views.js';
import { badRequest } from './problem.js';

/** `GET …/histogram` */
export async function getHistogram({ query, instance, params }: Call): Promise<HistogramView> {
  const { from, to, buckets } = readQuery(query, ['from', 'to', 'buckets']);
  const queue = params.queue!;
  const range = {
    from: readTime(from, 'from'),
    to: readTime(to, 'to'),
    buckets: readNumber(buckets ?? '60', 'buckets', [1, 400]),
  };
  const { producer } = instance;
  const { ready, now } = await producer.status(queue);
  const [histogram, untilNow] = await Promise.all([
    producer.histogram(queue, range),
    producer.histogram(queue, { from: now, to: new Date(now.getTime() + 1), buckets: 1 }),
  ]);
  const { counts, after, missing } = histogram;
  return {
    ...{ from: histogram.from.toISOString(), to: histogram.to.toISOString(), counts },
    ...{ before: histogram.before, after, ...(missing && { missing }) },
    ...{ now: now.toISOString(), overdue: ready + untilNow.before },
  };
}

/** `GET …/errors` */
export async function listErrors({ query, instance, params }: Call): Promise<ErrorListView> {
  const { cursor } = readQuery(query, ['cursor']);
  const letters = instance.producer.deadLetters(params.queue!);
  const page = await letters.byError(cursor === undefined ? {} : { cursor });
  const errors = page.errors.map(({ firstAt, lastAt, ...error }) => ({
    ...error,
    firstAt: firstAt.toISOString(),
    lastAt: lastAt.toISOString(),
  }));
  const { examined, missing } = page;
  return { errors, examined, cursor: page.cursor, ...(missing && { missing }) };
}

/** `GET …/groups` */
export async function listGroups({ query, instance, params }: Call): Promise<GroupListView> {
  const { limit } = readQuery(query, ['limit']);
  const wanted = limit === undefined ? {} : { limit: readNumber(limit, 'limit', [1, 1000]) };
  const { groups, ...list } = await instance.producer.groups(params.queue!, wanted);
  const views = groups.map(({ concurrency, ...group }) => ({
    ...group,
    ...(concurrency !== undefined && { concurrency }),
  }));
  return { groups: views, ...list };
}

/** Returns the handler of `POST …/groups/:group/cancel`. */
export function cancelGroup(audit: Audit): (call: Call) => Promise<CountView> {
  return async (call) => {
    const { queue, group } = call.params;
    const messages = call.instance.producer.group(queue!, group!);
    const filter = { state: 'delayed', group };
    return { changed: await audit.one(call, { action: 'cancel-group', filter }, () => messages.cancelAll()) };
  };
}

/** Returns the handler of `POST …/groups/:group/pause` or `resume`. */
export function pauseOrResumeGroup(action: 'pause' | 'resume', audit: Audit): (call: Call) => Promise<object> {
  return async (call) => {
    const { queue, group } = call.params;
    const messages = call.instance.producer.group(queue!, group!);
    await audit.one(call, { action: `${action}-group`, group: group! }, async () => {
      await messages[action]();
      return 0;
    });
    return { ok: true };
  };
}

/** Returns the handler of `POST …/groups/:group/concurrency`. */
export function setGroupConcurrency(audit: Audit): (call: Call) => Promise<object> {
  return async (call) => {
    const { queue, group } = call.params;
    const messages = call.instance.producer.group(queue!, group!);
    const { concurrency } = readObject<GroupConcurrencyBody>(await call.body(), 'The body', ['concurrency']);
    if (concurrency === undefined) throw badRequest('The body must have concurrency.');
    await audit.one(call, { action: 'set-group-concurrency', group: group!, concurrency }, async () => {
      await messages.setConcurrency(concurrency);
      return 0;
    });
    return { ok: true };
  };
}

/** `GET …/limits` */
export async function getLimits({ query, instance, params }: Call): Promise<LimitsView> {
  readQuery(query, []);
  return limitsOf(instance.producer, params.queue!);
}

/** Returns the handler of `POST …/limits`. */
export function setLimits(audit: Audit): (call: Call) => Promise<LimitsView> {
  return async (call) => {
    const queue = call.params.queue!;
    const { producer } = call.instance;
    const limits = readObject<LimitsBody>(await call.body(), 'The body', ['globalConcurrency', 'rate']);
    const by = (await audit.who(call)) ?? 'board';
    await audit.one(call, { action: 'set-limits' }, async () => {
      await producer.limits(queue).set(limits, { by });
      return 0;
    });
    return limitsOf(producer, queue);
  };
}

/** Returns the handler of `POST …/limits/reset`. */
export function resetLimits(audit: Audit): (call: Call) => Promise<LimitsView> {
  return async (call) => {
    await audit.one(call, { action: 'reset-limits' }, async () => {
      await call.instance.producer.limits(call.params.queue!).reset();
      return 0;
    });
    return { limits: null };
  };
}

async function limitsOf(producer: DelayQueueProducer, queue: string): Promise<LimitsView> {
  const limits = await producer.limits(queue).get();
  return { limits: limits && { ...limits, setAt: limits.setAt.toISOString() } };
}

/** `GET …/repeats` */
export async function listRepeats({ query, instance, params }: Call): Promise<RepeatListView> {
  const { cursor } = readQuery(query, ['cursor']);
  const repeats = instance.producer.repeats(params.queue!);
  const page = await repeats.list({ limit: 200, ...(cursor !== undefined && { cursor }) });
  return {
    repeats: page.messages.map(({ id, type, repeat, dueAt, state, next }) => ({
      ...{ id, type, rule: ruleView(repeat), dueAt: dueAt.toISOString(), state },
      next: next.map((time) => time.toISOString()),
    })),
    cursor: page.cursor,
    examined: page.examined,
  };
}

export type RepeatAction = 'pause' | 'resume' | 'end';

/** Returns the handler of `POST …/repeats/:id/pause`, `resume` or `end`. */
export function changeRepeat(action: RepeatAction, audit: Audit): (call: Call) => Promise<ChangedView> {
  return async (call) => {
    const { queue, id } = call.params;
    const repeats = call.instance.producer.repeats(queue!);
    const change = { action: `${action}-repeat`, ids: [id!] } as const;
    const count = await audit.one(call, change, async () => ((await repeats[action](id!)) ? 1 : 0));
    return { changed: count > 0 };
  };
}

/** Returns the handler of `POST …/repeats/:id/run`. */
export function runRepeat(audit: Audit): (call: Call) => Promise<RunView> {
  return async (call) => {
    const { queue, id } = call.params;
    let offered: OfferResult | null = null;
    await audit.one(call, { action: 'run-repeat', ids: [id!] }, async () => {
      offered = await call.instance.producer.repeats(queue!).runNow(id!);
      return offered ? 1 : 0;
    });
    return { id: (offered as OfferResult | null)?.id ?? null };
  };
}

/** `GET …/workers` */
export async function listWorkers({ query, instance }: Call): Promise<WorkerListView> {
  const { cursor, limit } = readQuery(query, ['cursor', 'limit']);
  const page = await instance.producer.workers({
    limit: limit === undefined ? 100 : readNumber(limit, 'limit', [1, 1000]),
    ...(cursor !== undefined && { cursor }),
  });
  return {
    workers: page.workers.map(({ startedAt, seenAt, queues, ...worker }) => ({
      ...worker,
      startedAt: startedAt.toISOString(),
      seenAt: seenAt.toISOString(),
      queues: queues.map(({ longest, ...queue }) => ({
        ...queue,
        ...(longest && { longest: { ...longest, since: longest.since.toISOString() } }),
      })),
    })),
    cursor: page.cursor,
  };
}
