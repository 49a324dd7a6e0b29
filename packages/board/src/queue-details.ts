import { DelayQueueError, type DelayQueueProducer, type MessageState, type RepeatRule } from 'nestjs-delay-queue';
import type { CountView, ErrorListView, GroupListView, HistogramView, RepeatListView, WorkerListView } from './api.js';
import type { Audit } from './audit.js';
import { type Call, readNumber, readQuery, readTime } from './call.js';
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
  return instance.producer.groups(params.queue!, wanted);
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

/** The states in which a repeating message may be. The next occurrence comes once the one before has ended. */
const STATES_OF_REPEATS: readonly MessageState[] = ['delayed', 'ready', 'active'];

/** `GET …/repeats`. A page is one of a search in one state; the cursor says in which. */
export async function listRepeats({ query, instance, params }: Call): Promise<RepeatListView> {
  const { cursor } = readQuery(query, ['cursor']);
  const { state, rest } = readRepeatCursor(cursor);
  const { producer } = instance;
  const page = await producer.search(
    params.queue!,
    { state, repeats: true },
    { limit: 200, ...(rest !== '' && { cursor: rest }) },
  );
  const next = STATES_OF_REPEATS[STATES_OF_REPEATS.indexOf(state) + 1];
  const following = next === undefined ? null : `${next}|`;
  return {
    repeats: page.messages.map(({ id, type, repeat, dueAt }) => ({
      ...{ id, type, rule: repeat!, dueAt: dueAt.toISOString(), state },
      next: timesOf(producer, repeat!),
    })),
    cursor: page.cursor === null ? following : `${state}|${page.cursor}`,
    examined: page.examined,
  };
}

function readRepeatCursor(cursor = 'delayed|'): { state: MessageState; rest: string } {
  const [, state, rest] = /^([a-z]+)\|([^]*)$/.exec(cursor) ?? [];
  if (state !== undefined && rest !== undefined && (STATES_OF_REPEATS as readonly string[]).includes(state)) {
    return { state: state as MessageState, rest };
  }
  throw badRequest('cursor must be the `cursor` of an earlier page.');
}

/** Returns a rule's next five times; none if this process has no calendar, or one that cannot read the rule. */
function timesOf(producer: DelayQueueProducer, { cron, timeZone }: RepeatRule): string[] {
  try {
    return producer.occurrences({ cron, timeZone }, { count: 5 }).map((time) => time.toISOString());
  } catch (error) {
    if (error instanceof DelayQueueError) return [];
    throw error;
  }
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
