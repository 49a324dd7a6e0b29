import { describe, expect, test } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { calendar, next } from '../../lib/calendar/index.js';
import { again, type DelayedMessage, DelayQueueModule, DelayQueueProducer } from '../../lib/index.js';
import { DelayQueueTester, DelayQueueTestingModule } from '../../lib/testing/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const EVERY_SECOND = '* * * * * *';

describe('the next times of a rule', () => {
  const scene = new Scene();

  test('are those of the calendar, in the time zone of the rule', async () => {
    const { producer } = await scene.startApp({ module: { store: 'memory', calendar } });
    const after = new Date('2026-03-27T12:00:00Z');
    const rule = { cron: '0 9 * * *', timeZone: 'Europe/Berlin', missed: 'once' };
    const iso = (times: readonly Date[]) => times.map((time) => time.toISOString());
    expect(iso(producer.occurrences(rule, { after, count: 3 }))).toEqual([
      '2026-03-28T08:00:00.000Z',
      '2026-03-29T07:00:00.000Z',
      '2026-03-30T07:00:00.000Z',
    ]);
    expect(iso(producer.occurrences({ cron: '0 9 * * *' }, { after, count: 1 }))).toEqual(['2026-03-28T09:00:00.000Z']);
    const next = producer.occurrences({ cron: '* * * * *' });
    expect(next).toHaveLength(5);
    expect(next[0]!.getTime()).toBeGreaterThan(Date.now() - 1000);
  });

  test('are refused without a calendar, and for invalid arguments', async () => {
    const { producer } = await scene.startApp({ module: { store: 'memory', calendar } });
    const { producer: other } = await scene.startApp({ module: { store: 'memory' } });
    const rule = { cron: '0 9 * * *' };
    expect(() => other.occurrences(rule)).toThrow('calendar: a rule with cron needs one');
    expect(() => producer.occurrences({ cron: 'never' })).toThrow('cron');
    expect(() => producer.occurrences({ ...rule, timeZone: 'Mars' })).toThrow('Mars');
    for (const count of [0, 101, 1.5]) expect(() => producer.occurrences(rule, { count })).toThrow('count');
    expect(() => producer.occurrences(rule, { after: 1 as never })).toThrow('after');
    expect(() => producer.occurrences({ ...rule, payload: 1 } as never)).toThrow('rule');
  });
});

describe('a message that repeats with again() and a calendar', () => {
  const scene = new Scene();

  test.each([
    ['native with partitions', { partitions: 3 }],
    ['redisson', { layout: redisson() }],
  ] as const)(
    'is delivered once at each time, whichever of three processes offers and handles it: %s',
    async (_, defaults) => {
      const queue = scene.newQueue();
      const times: number[] = [];
      const handler = handlerOf(queue, (_payload, { dueAt }: DelayedMessage) => {
        times.push(dueAt.getTime());
        return again(next(EVERY_SECOND, { after: dueAt }));
      });
      const start = () => scene.startApp({ module: { defaults }, providers: [handler] });
      const apps = await Promise.all([start(), start(), start()]);
      const first = next(EVERY_SECOND, { after: new Date() });
      await Promise.all(apps.map(({ producer }) => producer.offerAt(queue, {}, first, { id: 'every-second' })));
      await until(() => times.length === 4, { within: 30_000 });
      expect(times).toEqual([0, 1, 2, 3].map((seconds) => first.getTime() + seconds * 1000));
      await until(() => apps[0].producer.cancel(queue, 'every-second'));
      await until(async () => (await apps[0].producer.counts(queue)).delayed === 0);
    },
  );

  test('is delivered at 9:00 local time on every day of a year, in virtual time', async () => {
    const times: Date[] = [];
    const options = { after: new Date(), timeZone: 'Europe/Berlin' };
    const handler = handlerOf('digests', (_payload, { dueAt }: DelayedMessage) => {
      times.push(dueAt);
      return again(next('0 9 * * *', { ...options, after: dueAt }));
    });
    const module = await Test.createTestingModule({
      imports: [DelayQueueModule.forRoot(), DelayQueueTestingModule],
      providers: [handler],
    }).compile();
    await module.init();
    await module.get(DelayQueueProducer).offerAt('digests', {}, next('0 9 * * *', options), { id: 'daily' });
    await module.get(DelayQueueTester).advance('365d');
    const walls = times.map((time) => time.toLocaleString('sv', { timeZone: 'Europe/Berlin' }));
    expect(walls.filter((wall) => !wall.endsWith(' 09:00:00'))).toEqual([]);
    expect(new Set(walls.map((wall) => wall.slice(0, 10))).size).toBe(365);
    expect(walls).toHaveLength(365);
    await module.close();
  });
});
