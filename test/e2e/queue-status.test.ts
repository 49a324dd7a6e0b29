import { describe, expect, test } from '@jest/globals';
import { Scene } from '../support/scene.js';

describe('the status of a queue', () => {
  const scene = new Scene();

  test('tells its counts, next due time and pause in one answer', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp();
    const none = { delayed: 0, ready: 0, active: 0, dead: 0, nextDue: null, isPaused: false, layout: 'native' };
    expect(await producer.status(queue)).toMatchObject(none);
    const { dueAt } = await producer.offer(queue, {}, '1h');
    await producer.pause(queue);
    const { now, ...status } = await producer.status(queue);
    expect(status).toMatchObject({ ...none, delayed: 1, nextDue: dueAt, isPaused: true });
    expect(Math.abs(dueAt.getTime() - now.getTime() - 3_600_000)).toBeLessThan(60_000);
  });

  test('tells what the layout and the options of the queue make possible', async () => {
    const { producer } = await scene.startApp({ module: { queues: { grouped: { groups: { concurrency: 1 } } } } });
    const { can } = await producer.status('plain');
    const others = { headers: true, types: true, expiry: true, changes: true, repeats: true, history: true };
    expect(can).toEqual({ ...others, groups: false });
    expect((await producer.status('grouped')).can.groups).toBe(true);
  });
});
