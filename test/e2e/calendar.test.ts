import { describe, expect, test } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { next } from '../../lib/calendar/index.js';
import { again, type DelayedMessage, DelayQueueModule, DelayQueueProducer } from '../../lib/index.js';
import { DelayQueueTester, DelayQueueTestingModule } from '../../lib/testing/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const EVERY_SECOND = '* * * * * *';

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
