import { describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { DelayedHandler, type DelayedMessage, DelayQueue, type DelayQueueEvent } from '../../lib/index.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

describe.each([
  ['native', {}],
  ['memory', { store: 'memory' as const }],
])('a message that has to wait for its call, on %s', (_, module) => {
  const scene = new Scene();

  test('is not handled if it expires while it waits for a slot in a queue with batches', async () => {
    class Visits extends DelayQueue(scene.newQueue(), { page: z.number(), day: z.string() }, { concurrency: 1 }) {}
    const handled: string[] = [];
    const expired: string[] = [];
    const finish = new Latch();
    @Injectable()
    class Statistics {
      @DelayedHandler(Visits, 'page', { batch: 10 })
      pages() {}

      @DelayedHandler(Visits, 'day')
      async day(_day: string, { id }: DelayedMessage) {
        handled.push(id);
        if (id === 'first') await finish.opened;
      }
    }
    const event = (reported: DelayQueueEvent) => void (reported.name === 'expired' && expired.push(reported.id));
    const { context } = await scene.startApp({
      module: { ...module, observers: [{ event }] },
      providers: [Visits, Statistics],
    });
    const visits = context.get(Visits);
    await visits.offer('day', '', 0, { id: 'first' });
    await until(() => handled.length === 1);
    await visits.offer('day', '', 0, { id: 'late', expiresAfter: 500 });
    await visits.offer('day', '', 0, { id: 'in time', expiresAfter: '1m' });
    await until(async () => (await visits.counts()).active === 3);
    const { expiresAt } = (await visits.find('late'))!;
    await until(() => Date.now() > expiresAt!.getTime() + 50);
    finish.open();
    await until(async () => Object.values(await visits.counts()).every((count) => count === 0));
    expect(handled).toEqual(['first', 'in time']);
    expect(expired).toEqual(['late']);
  });

  test('is not handled if it expires while an observer delays it', async () => {
    const queue = scene.newQueue();
    const handled: string[] = [];
    const expired: string[] = [];
    const observer = {
      event: (reported: DelayQueueEvent) => void (reported.name === 'expired' && expired.push(reported.id)),
      handle: async ({ expiresAt }: DelayedMessage, next: () => unknown) => {
        await until(() => Date.now() > expiresAt!.getTime() + 50);
        return next();
      },
    };
    const provider = handlerOf(queue, (_payload, { id }) => void handled.push(id));
    const { producer } = await scene.startApp({ module: { ...module, observers: [observer] }, providers: [provider] });
    await producer.offer(queue, 1, 0, { id: 'late', expiresAfter: 500 });
    await until(() => handled.length + expired.length === 1);
    expect({ handled, expired }).toEqual({ handled: [], expired: ['late'] });
  });
});
