import { describe, expect, test } from '@jest/globals';
import type { MatchReport, MessageFilter } from '../../lib/index.js';
import { STORES } from '../support/stores.js';
import { refusalOf } from '../support/refusal.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const HOUR = 3_600_000;

describe.each(STORES)('matching messages in $store with partitions: $partitions', ({ store, partitions }) => {
  const scene = new Scene();

  async function start(handle?: (payload: unknown) => unknown) {
    const queue = scene.newQueue();
    const queues = { [queue]: { partitions, groups: { concurrency: 1 }, attempts: 1, concurrency: 64 } };
    const providers = handle ? [handlerOf(queue, handle)] : [];
    const { producer } = await scene.startApp({ module: { store, queues }, providers });
    return { queue, producer, letters: producer.deadLetters(queue) };
  }

  /** Offers messages `m0`, `m1`, …, each a second after the other; every second one is of a group, every third one is wanted. */
  async function offerMany({ queue, producer }: Awaited<ReturnType<typeof start>>, count: number, at: number) {
    await producer.offerMany(
      queue,
      Array.from({ length: count }, (_, i) => ({
        payload: i % 3 === 0 ? 'wanted' : 'other',
        at: new Date(at + i * 1000),
        id: `m${i}`,
        ...(i % 2 === 0 && { group: `g${i % 10}` }),
      })),
    );
  }

  const WANTED = { state: 'delayed', text: 'wanted' } as const;

  test('are counted and cancelled in steps, and nothing else is', async () => {
    const started = await start();
    const { queue, producer } = started;
    await offerMany(started, 1500, Date.now() + HOUR);
    const reports: MatchReport[] = [];
    const matching = producer.matching(queue, WANTED);
    const counted = await matching.count({ onProgress: (report) => reports.push(report) });
    expect(counted).toEqual({ matched: 500, changed: 0, movedOn: 0, examined: 1500, isComplete: true });
    expect(reports.length).toBeGreaterThanOrEqual(3);
    expect(reports.at(-1)).toEqual(counted);
    expect(reports[0]).toMatchObject({ isComplete: false });
    expect(await producer.counts(queue)).toMatchObject({ delayed: 1500 });

    expect(await matching.cancel()).toEqual({ ...counted, changed: 500 });
    expect(await producer.counts(queue)).toMatchObject({ delayed: 1000 });
    expect(await matching.count()).toMatchObject({ matched: 0, examined: 1000, isComplete: true });
  });

  test.each([
    ['ahead of the walk', 10 * HOUR],
    ['in the middle of it', HOUR + 700_000],
    ['before it', HOUR / 2],
  ])('are rescheduled to a time %s, each once', async (_, delay) => {
    const started = await start();
    const { queue, producer } = started;
    const at = Date.now() + HOUR;
    await offerMany(started, 1500, at);
    const due = new Date(Date.now() + delay);
    const matching = producer.matching(queue, WANTED);
    const alreadyThere = (at - due.getTime()) % 1000 === 0 ? 1 : 0;
    const { matched, changed, movedOn, isComplete } = await matching.reschedule(due);
    expect(matched).toBeGreaterThanOrEqual(500 - alreadyThere);
    expect(matched).toBeLessThanOrEqual(500);
    expect([changed, movedOn, isComplete]).toEqual([matched, 0, true]);
    const { counts } = await producer.histogram(queue, { from: due, to: new Date(due.getTime() + 1), buckets: 1 });
    expect(counts[0]).toBeGreaterThanOrEqual(500);
    expect(await matching.reschedule(due)).toMatchObject({ matched: 0, changed: 0 });
  });

  test('are all rescheduled to one time by a delay', async () => {
    const started = await start();
    const { queue, producer } = started;
    await offerMany(started, 30, Date.now() + HOUR);
    expect(await producer.matching(queue, WANTED).reschedule('2h')).toMatchObject({ changed: 10 });
    const { messages } = await producer.search(queue, WANTED);
    const dues = new Set(messages.map(({ dueAt }) => dueAt.getTime()));
    expect(dues.size).toBe(1);
    const [due] = dues;
    expect(Math.abs(due! - Date.now() - 2 * HOUR)).toBeLessThan(60_000);
  });

  test('that die again after a redrive are redriven once', async () => {
    let calls = 0;
    const started = await start((payload) => {
      calls++;
      throw payload === 'wanted' ? new TypeError('again and again') : new RangeError('once');
    });
    const { queue, producer, letters } = started;
    await offerMany(started, 60, Date.now() - HOUR);
    await until(async () => (await producer.counts(queue)).dead === 60);
    const matching = producer.matching(queue, { state: 'dead', error: { name: 'TypeError' } });
    expect(await matching.redrive()).toMatchObject({ matched: 20, changed: 20, movedOn: 0, isComplete: true });
    await until(() => calls === 80);
    await until(async () => (await producer.counts(queue)).dead === 60);
    expect(await matching.discard()).toMatchObject({ matched: 20, changed: 20 });
    const { messages } = await letters.list({ limit: 1000 });
    expect(messages.map(({ error }) => error.name)).toEqual(Array(40).fill('RangeError'));
  });

  test('stop being changed when the signal aborts', async () => {
    const started = await start();
    const { queue, producer } = started;
    await offerMany(started, 1500, Date.now() + HOUR);
    const stop = new AbortController();
    const report = await producer
      .matching(queue, WANTED)
      .cancel({ signal: stop.signal, onProgress: () => stop.abort() });
    expect(report.isComplete).toBe(false);
    expect(report.changed).toBe(report.matched);
    expect(report.changed).toBeGreaterThan(0);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 1500 - report.changed });
    expect(await producer.matching(queue, WANTED).cancel({ signal: stop.signal })).toEqual({
      ...{ matched: 0, changed: 0, movedOn: 0, examined: 0, isComplete: false },
    });
  });

  test('dead letters are grouped by their error', async () => {
    class Down extends Error {
      override name = 'Down';
    }
    const one = (text: string) => new Down(text);
    const other = (text: string) => new Down(text);
    const { queue, producer, letters } = await start((payload) => {
      const text = String(payload);
      if (text.startsWith('one')) throw one(text);
      if (text.startsWith('other')) throw other(text);
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- as JavaScript may
      throw text;
    });
    for (const payload of ['one 1', 'other 1', 'one 2', 'thrown']) {
      await producer.offer(queue, payload, 0, { id: payload });
      await until(async () => (await producer.find(queue, payload))?.state === 'dead');
    }
    const { errors, ...page } = await letters.byError();
    expect(page).toEqual({ examined: 4, cursor: null });
    const [first] = errors;
    expect(first).toMatchObject({ name: 'Down', message: 'one 2', count: 2, example: 'one 2' });
    expect(first!.frame).toMatch(/^one \(.*matching\.test\.ts:\d+\)$/);
    expect(first!.firstAt.getTime()).toBeLessThanOrEqual(first!.lastAt.getTime());
    expect(errors.slice(1)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          name: 'Down',
          count: 1,
          frame: expect.stringMatching(/^other /),
          example: 'other 1',
        }),
        expect.objectContaining({ name: 'NonError', count: 1, frame: '', message: 'thrown' }),
      ]),
    );
    for (const { name, frame, count } of errors) {
      const filter = { state: 'dead', error: { name, frame } } as const;
      expect(await producer.matching(queue, filter).count()).toMatchObject({ matched: count });
    }
    expect(await refusalOf(letters.byError({ cursor: 'nonsense' }))).toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('matching messages with invalid arguments', () => {
  const scene = new Scene();

  test.each<[string, MessageFilter['state']]>([
    ['cancel', 'dead'],
    ['reschedule', 'active'],
    ['redrive', 'delayed'],
    ['discard', 'ready'],
  ])('%s refuses a filter of %s messages, and says which state it needs', async (what, state) => {
    const { producer } = await scene.startApp({ module: { store: 'memory' } });
    const matching = producer.matching('orders', { state }) as unknown as Record<
      string,
      (due: string) => Promise<void>
    >;
    const error = await refusalOf(matching[what]!('1h'));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('state must be') });
  });

  test('a malformed filter is refused at once, and options when they are used', async () => {
    const { producer } = await scene.startApp({ module: { store: 'memory' } });
    expect(() => producer.matching('orders', {} as never)).toThrow('state');
    const matching = producer.matching('orders', { state: 'delayed' });
    for (const options of [{ signal: {} }, { onProgress: 1 }, { steps: 1 }]) {
      expect(await refusalOf(matching.count(options as never))).toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    expect(await refusalOf(matching.reschedule('soon' as never))).toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});
