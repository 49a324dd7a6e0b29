import { describe, expect, test } from '@jest/globals';
import { Injectable, type Type } from '@nestjs/common';
import {
  DelayedHandler,
  type DelayedMessage,
  type DelayQueueEvent,
  type DelayQueueModuleOptions,
  type HandlingOutcome,
} from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Handles messages until their signals abort. */
class Waiting {
  readonly started: string[] = [];
  /** The messages with the names of their reasons. */
  readonly aborted: string[] = [];

  readonly handle = async (_payload: unknown, { id, signal }: DelayedMessage): Promise<void> => {
    this.started.push(id);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.aborted.push(`${id}: ${(signal.reason as Error).name}`);
  };
}

function batchHandlerOf(queue: string, handle: (messages: readonly DelayedMessage[]) => Promise<void>): Type {
  @Injectable()
  class BatchHandler {
    @DelayedHandler(queue, { batch: 3, batchWait: '10s' })
    handle(_payloads: unknown[], messages: readonly DelayedMessage[]): Promise<void> {
      return handle(messages);
    }
  }
  return BatchHandler;
}

const isEmpty = (counts: object) => Object.values(counts).every((count) => count === 0);

describe.each<[string, DelayQueueModuleOptions]>([
  ['Redis', {}],
  ['Redis with partitions', { defaults: { partitions: 3 } }],
  ["Redisson's layout", { defaults: { layout: redisson() } }],
  ['memory', { store: 'memory' }],
])('abort: %s', (_name, module) => {
  const scene = new Scene();

  test("stops a message's handler and removes the message, whether the handler then returns or throws", async () => {
    const queue = scene.newQueue();
    const waiting = new Waiting();
    const events: string[] = [];
    const outcomes: HandlingOutcome[] = [];
    const observer = {
      handle: async (_message: DelayedMessage, next: () => HandlingOutcome | Promise<HandlingOutcome>) =>
        void outcomes.push(await next()),
      event: (event: DelayQueueEvent) => {
        if ('id' in event) events.push(`${event.name} ${event.id}`);
      },
    };
    const handle = async (payload: unknown, message: DelayedMessage) => {
      await waiting.handle(payload, message);
      if (message.id === 'b c') throw new Error('stopped');
    };
    const { producer, log } = await scene.startApp({
      module: { ...module, observers: [observer] },
      providers: [handlerOf(queue, handle)],
    });
    for (const id of ['a', 'b c']) await producer.offer(queue, id, 0, { id });
    await until(() => waiting.started.length === 2);
    expect(await producer.abort(queue, 'a')).toBe(true);
    expect(await producer.abort(queue, 'b c')).toBe(true);
    await until(() => outcomes.length === 2);
    expect(waiting.aborted).toEqual(['a: MessageAborted', 'b c: MessageAborted']);
    expect(outcomes).toEqual([{ kind: 'aborted' }, { kind: 'aborted' }]);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 0, ready: 0, active: 0, dead: 0 });
    // Outcomes are settled in order, so those of the aborted messages have been refused by now.
    await producer.offer(queue, 'next', 0, { id: 'next' });
    await until(() => waiting.started.length === 3);
    await producer.abort(queue, 'next');
    await until(() => events.includes('handled next') || events.includes('aborted next'));
    expect(events.filter((event) => !event.endsWith('next'))).toEqual(['aborted a', 'aborted b c']);
    expect(log.filter((line) => /^(warn|error)/.test(line) && line.includes(queue))).toEqual([]);
  });

  test('returns false for a delayed message, which it leaves alone, and for an unknown id', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module });
    await producer.offer(queue, 1, '1h', { id: 'delayed' });
    expect(await producer.abort(queue, 'delayed')).toBe(false);
    expect(await producer.abort(queue, 'none')).toBe(false);
    expect(await producer.find(queue, 'delayed')).toMatchObject({ state: 'delayed' });
  });

  test('removes a message that waits for its batch, which is then handled without it', async () => {
    const queue = scene.newQueue();
    const calls: string[][] = [];
    const handler = batchHandlerOf(queue, (messages) => {
      calls.push(messages.map(({ id }) => id));
      return Promise.resolve();
    });
    const { producer } = await scene.startApp({ module, providers: [handler] });
    const offer = (id: string) => producer.offer(queue, id, 0, { id });
    await Promise.all(['a', 'b'].map(offer));
    await until(async () => (await producer.counts(queue)).active === 2);
    expect(await producer.abort(queue, 'a')).toBe(true);
    await until(async () => (await producer.counts(queue)).active === 1);
    await offer('c');
    await until(async () => isEmpty(await producer.counts(queue)));
    expect(calls).toEqual([expect.arrayContaining(['b', 'c'])]);
  });

  test('stops one message of a batch, and the others are handled', async () => {
    const queue = scene.newQueue();
    const [called, go] = [new Latch(), new Latch()];
    const stopped: string[] = [];
    const handler = batchHandlerOf(queue, async (messages) => {
      called.open();
      await go.opened;
      for (const { id, signal } of messages) if (signal.aborted) stopped.push(id);
    });
    const handled: string[] = [];
    const observer = {
      event: (event: DelayQueueEvent) => {
        if (event.name === 'handled') handled.push(event.id);
      },
    };
    const { producer } = await scene.startApp({ module: { ...module, observers: [observer] }, providers: [handler] });
    await Promise.all(['a', 'b', 'c'].map((id) => producer.offer(queue, id, 0, { id })));
    await called.opened;
    expect(await producer.abort(queue, 'b')).toBe(true);
    await until(async () => (await producer.counts(queue)).active === 2);
    // The announcement arrives before the answer to a later call.
    await producer.counts(queue);
    go.open();
    await until(() => handled.length === 2);
    expect(stopped).toEqual(['b']);
    expect(handled.sort()).toEqual(['a', 'c']);
  });
});

describe('abort', () => {
  const scene = new Scene();

  test('reaches a handler that keeps running while its process shuts down', async () => {
    const queue = scene.newQueue();
    const waiting = new Waiting();
    const module = { shutdownTimeout: '5s' as const };
    const app = await scene.startApp({ module, providers: [handlerOf(queue, waiting.handle)] });
    const { producer } = await scene.startApp({});
    await producer.offer(queue, 1, 0, { id: 'a' });
    await until(() => waiting.started.length === 1);
    const closed = app.close();
    expect(await producer.abort(queue, 'a')).toBe(true);
    await closed;
    expect(waiting.aborted).toEqual(['a: MessageAborted']);
  });

  test('reaches the handler of a family, whether its queue is idle or busy', async () => {
    const family = scene.newQueue();
    const waiting = new Waiting();
    await scene.startApp({ providers: [handlerOf(`${family}-*`, waiting.handle)] });
    const { producer } = await scene.startApp({});
    // Messages are handled before that as well, but no abort arrives.
    const listeners = () => scene.redis.publish(scene.key(`${family}-1`, 'due'), 'who listens?');
    await until(async () => (await listeners()) > 0);
    await producer.offer(`${family}-1`, 1, 0, { id: 'visited' });
    await until(() => waiting.started.length === 1);
    expect(await producer.abort(`${family}-1`, 'visited')).toBe(true);
    await until(() => waiting.aborted.length === 1);
    // The second message within ten seconds wakes the queue.
    await producer.offer(`${family}-1`, 1, 0, { id: 'awake' });
    await until(() => waiting.started.length === 2);
    expect(await producer.abort(`${family}-1`, 'awake')).toBe(true);
    await until(() => waiting.aborted.length === 2);
    expect(waiting.aborted).toEqual(['visited: MessageAborted', 'awake: MessageAborted']);
  });

  test('stops the handler at the next lease extension if the announcement is lost', async () => {
    const queue = scene.newQueue();
    const waiting = new Waiting();
    const { producer } = await scene.startApp({ providers: [handlerOf(queue, waiting.handle, { lease: '1s' })] });
    await producer.offer(queue, 1, 0, { id: 'a' });
    await until(() => waiting.started.length === 1);
    // Does what abort does, without the announcement.
    await scene.redis.del(...(await scene.redis.keys(`${scene.prefix}:{${queue}}:*`)));
    await until(() => waiting.aborted.length === 1);
    expect(waiting.aborted).toEqual(['a: LeaseLost']);
  });
});
