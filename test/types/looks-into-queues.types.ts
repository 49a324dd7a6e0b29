/** Looks into queues that the compiler accepts, and some that it rejects. Nothing here runs. */
import {
  DelayQueue,
  type DeadLetterErrorPage,
  type DelayQueueProducer,
  type DueHistogram,
  type MatchReport,
  type MessageSnapshot,
  type MessageState,
  payload,
  type QueueStatus,
  type RepeatRule,
  type WorkerReport,
} from '../../lib/index.js';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Accepts values of exactly this type. */
const exactly =
  <Wanted>() =>
  <Given>(..._: (Equal<Given, Wanted> extends true ? Given : never)[]): void =>
    undefined;
const holds = <T extends true>(..._: T[]): void => undefined;

class Orders extends DelayQueue('orders', { remind: payload<{ nth: number }>(), pay: payload<{ sum: number }>() }) {}
class Emails extends DelayQueue('emails', payload<{ to: string }>()) {}

const DELAYED = { state: 'delayed' } as const;

export class RightUses {
  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly orders: Orders,
    private readonly emails: Emails,
  ) {}

  async search(): Promise<void> {
    const { messages, cursor, examined, missing } = await this.producer.search('orders', DELAYED);
    exactly<readonly MessageSnapshot[]>()(messages);
    exactly<string | null>()(cursor);
    exactly<number>()(examined);
    exactly<readonly number[] | undefined>()(missing);
    const ofCaller = await this.producer.search<{ id: number }>('orders', DELAYED, { cursor: 'x', limit: 10 });
    exactly<{ id: number }>()(ofCaller.messages[0]!.payload);

    const ofTypes = (await this.orders.search({ ...DELAYED, type: 'pay' })).messages[0]!;
    if (ofTypes.type === 'pay') exactly<{ sum: number }>()(ofTypes.payload);
    if (ofTypes.type === 'remind') exactly<{ nth: number }>()(ofTypes.payload);
    const ofOneKind = (await this.emails.search({ state: 'dead', error: { name: 'TypeError' } }, { limit: 1 }))
      .messages;
    exactly<{ to: string }>()(ofOneKind[0]!.payload);

    const state: MessageState = 'ready';
    const all = { state, idPrefix: 'a', type: '', group: 'g', text: 't', due: { from: new Date() }, repeats: true };
    await this.producer.search('orders', all);
    await this.producer.search('orders', { state, due: { from: undefined, to: new Date() } }, { cursor: undefined });
  }

  async histogram(): Promise<void> {
    const query = { from: new Date(), to: new Date(), buckets: 60 };
    const results = [
      await this.producer.histogram('orders', query),
      await this.orders.histogram(query),
      await this.emails.histogram(query),
    ];
    exactly<DueHistogram[]>()(results);
    holds<Equal<DueHistogram['counts'], readonly number[]>>();
  }

  async matching(signal: AbortSignal): Promise<void> {
    const onProgress = ({ matched }: MatchReport): void => void matched;
    for (const matching of [
      this.producer.matching('orders', DELAYED),
      this.orders.matching(DELAYED),
      this.emails.matching({ state: 'dead', error: { name: 'TypeError', frame: undefined } }),
    ]) {
      const reports = [
        await matching.count(),
        await matching.cancel({ signal }),
        await matching.redrive({ onProgress }),
        await matching.discard({ signal, onProgress }),
        await matching.reschedule('5m', { signal: undefined }),
        await matching.reschedule(new Date()),
        await matching.reschedule(0),
      ];
      exactly<MatchReport[]>()(reports);
    }
  }

  async deadLetters(): Promise<void> {
    for (const letters of [this.producer.deadLetters('orders'), this.orders.deadLetters(), this.emails.deadLetters()]) {
      const page = await letters.byError();
      exactly<DeadLetterErrorPage>()(page);
      const { name, frame, message, count, firstAt, lastAt, example } = page.errors[0]!;
      const texts: string[] = [name, frame, message, example];
      const [number, dates]: [number, Date[]] = [count, [firstAt, lastAt]];
      void [texts, number, dates, await letters.byError({ cursor: page.cursor ?? undefined })];
    }
  }

  async groups(): Promise<void> {
    for (const list of [
      await this.producer.groups('orders', { limit: 10 }),
      await this.orders.groups(),
      await this.emails.groups({ limit: undefined }),
    ]) {
      for (const { group, waiting, holders, holding, paused, concurrency } of list.groups) {
        exactly<string>()(group);
        exactly<number>()(waiting);
        exactly<number>()(holding);
        exactly<readonly string[]>()(holders);
        exactly<boolean>()(paused);
        exactly<number | 'unlimited' | undefined>()(concurrency);
      }
      exactly<number>()(list.total);
      exactly<boolean>()(list.isComplete);
    }
  }

  occurrences(rule: RepeatRule): void {
    const dates: Date[] = this.producer.occurrences(rule, { after: new Date(), count: 5 });
    void [dates, this.producer.occurrences({ cron: '0 9 * * *' }, { after: undefined })];
  }

  async status(): Promise<void> {
    const statuses = [await this.producer.status('orders'), await this.orders.status(), await this.emails.status()];
    exactly<QueueStatus[]>()(statuses);
    for (const { delayed, now, nextDue, isPaused, layout, can, missing } of statuses) {
      exactly<number>()(delayed);
      exactly<boolean>()(isPaused);
      exactly<string>()(layout);
      exactly<Date>()(now);
      exactly<Date | null>()(nextDue);
      exactly<boolean>()(can.groups);
      exactly<readonly number[] | undefined>()(missing);
    }
  }

  async workers(): Promise<void> {
    const { workers, cursor } = await this.producer.workers({ limit: 10, cursor: undefined });
    exactly<readonly WorkerReport[]>()(workers);
    exactly<string | null>()(cursor);
    const { queue, slots, longest, lateness } = workers[0]!.queues[0]!;
    exactly<string>()(queue);
    exactly<number>()(slots);
    const since: Date | undefined = longest?.since;
    const p99: number | undefined = lateness?.p99;
    void [since, p99, await this.producer.workers()];
  }
}

export class WrongUses {
  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly orders: Orders,
  ) {}

  async look(): Promise<void> {
    // @ts-expect-error a filter needs a state
    await this.producer.search('orders', { type: 'pay' });
    // @ts-expect-error there is no such state
    await this.producer.search('orders', { state: 'late' });
    // @ts-expect-error there is no such property
    await this.producer.search('orders', { ...DELAYED, payload: 'x' });
    // @ts-expect-error a search has no offset
    await this.producer.search('orders', DELAYED, { offset: 1 });
    // @ts-expect-error an error has a name
    await this.producer.search('orders', { state: 'dead', error: { frame: 'x' } });
    // @ts-expect-error a typed queue has its own name
    await this.orders.search('orders', DELAYED);
    // @ts-expect-error the width of a bucket is not given
    await this.producer.histogram('orders', { from: new Date(), to: new Date() });
    // @ts-expect-error a time is a Date
    await this.orders.histogram({ from: 0, to: 1, buckets: 1 });
    // @ts-expect-error not a duration
    await this.orders.matching(DELAYED).reschedule('5 parsecs');
    // @ts-expect-error a walk has no limit
    await this.orders.matching(DELAYED).count({ limit: 5 });
    // @ts-expect-error all dead letters are examined, whatever their number
    await this.orders.deadLetters().byError({ limit: 5 });
    // @ts-expect-error groups have no cursor
    await this.orders.groups({ cursor: 'x' });
    // @ts-expect-error a producer needs the name of a queue
    await this.producer.status();
    // @ts-expect-error a rule needs its times
    this.producer.occurrences({ timeZone: 'Europe/Berlin' });
    // @ts-expect-error a report has no offset
    await this.producer.workers({ offset: 1 });
  }
}
