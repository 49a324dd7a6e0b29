import { describe, expect, test } from '@jest/globals';
import { Injectable, type Type } from '@nestjs/common';
import {
  DelayedHandler,
  type DelayedMessage,
  DelayQueueModule,
  type DelayQueueModuleOptions,
  type DelayQueueProducer,
  getDelayQueueProducerToken,
  type QueueHandlerOptions,
} from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import type { GroupOptions } from '../support/of-group.js';
import { Scene } from '../support/scene.js';
import { TestedApps } from '../support/tested-app.js';
import { until } from '../support/until.js';

/** The messages of a call: `a1` is of group `a`, and `1` of none. */
type Batch = readonly string[];

const groupOf = (id: string) => (/^\d/.test(id) ? undefined : id[0]!);

function batchesOf(queue: string, batches: Batch[], options: QueueHandlerOptions): Type {
  @Injectable()
  class Batches {
    @DelayedHandler(queue, { batchPerGroup: true, ...options })
    async handle(_payloads: unknown[], messages: readonly DelayedMessage[]): Promise<void> {
      batches.push(messages.map(({ id }) => id));
      for (const { id, group } of messages) expect(group).toBe(groupOf(id));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return Batches;
}

const offersOf = (ids: readonly string[], delay = 0) =>
  ids.map((id) => ({ id, payload: id, delay, group: groupOf(id) }));

describe.each<[string, DelayQueueModuleOptions]>([
  ['Redis', {}],
  ['Redis with partitions', { defaults: { partitions: 3 } }],
  ['memory', { store: 'memory' }],
])('a batch per group: %s', (_name, module) => {
  const scene = new Scene();

  async function start(groups: GroupOptions, options: QueueHandlerOptions, apps = 1) {
    const queue = scene.newQueue();
    const batches: Batch[] = [];
    const started = [];
    for (let i = 0; i < apps; i++) {
      const providers = [batchesOf(queue, batches, options)];
      started.push(await scene.startApp({ module: { ...module, queues: { [queue]: { groups } } }, providers }));
    }
    return { queue, batches, producer: started[0]!.producer };
  }

  test('contains messages of one group only, or only messages without a group, in each of two processes', async () => {
    const { queue, batches, producer } = await start({ concurrency: 5 }, { batch: 10, batchWait: 20 }, 2);
    const ids = Array.from({ length: 300 }, (_, i) => `${['a', 'b', 'c', ''][i % 4]}${i}`);
    await producer.offerMany(queue, offersOf(ids, 100));
    await until(() => batches.flat().length === 300, { within: 20_000 });
    for (const batch of batches) {
      expect(new Set(batch.map(groupOf)).size).toBe(1);
      expect(batch.length).toBeLessThanOrEqual(groupOf(batch[0]!) === undefined ? 10 : 5);
    }
    expect(new Set(batches.flat())).toEqual(new Set(ids));
    expect(batches.length).toBeLessThan(150);
  });

  test('contains no messages of other groups, and its own in order of due time', async () => {
    const { queue, batches, producer } = await start({ concurrency: 'unlimited' }, { batch: 3, batchWait: '1h' });
    await producer.offerMany(queue, offersOf(['a1', 'b1', 'c1', '1']));
    await until(async () => (await producer.counts(queue)).active === 4, { within: 20_000 });
    await producer.offerMany(queue, [...offersOf(['b3'], 20), ...offersOf(['b2'])]);
    await until(() => batches.length === 1, { within: 20_000 });
    expect(batches).toEqual([['b1', 'b2', 'b3']]);
    await producer.offerMany(queue, offersOf(['2', '3']));
    await until(() => batches.length === 2, { within: 20_000 });
    expect([...batches[1]!].sort()).toEqual(['1', '2', '3']);
  });

  test('does not wait for messages for which its group has no permit', async () => {
    const { queue, batches, producer } = await start({ concurrency: 2 }, { batch: 10, batchWait: '1h' });
    await producer.offerMany(queue, offersOf(['a1', 'a2', 'a3', 'a4', 'b1']));
    await until(() => batches.length === 2, { within: 20_000 });
    expect(batches).toEqual([
      ['a1', 'a2'],
      ['a3', 'a4'],
    ]);
    expect(await producer.find(queue, 'b1')).toMatchObject({ state: 'active' });
  });

  test('does not wait for more messages when its process has no free slot', async () => {
    const options = { concurrency: 1, batch: 3, batchWait: '1h' } as const;
    const { queue, batches, producer } = await start({ concurrency: 3 }, options);
    await producer.offerMany(queue, offersOf(['a1', 'b1', '1']));
    await until(() => batches.length === 3, { within: 20_000 });
    expect(batches.map((batch) => batch.join(' ')).sort()).toEqual(['1', 'a1', 'b1']);
    await producer.offerMany(queue, offersOf(['a2', 'b2']));
    await until(async () => (await producer.counts(queue)).active === 2, { within: 20_000 });
    expect(batches).toHaveLength(3);
  });
});

describe('batchPerGroup', () => {
  const scene = new Scene();
  const apps = new TestedApps();

  test.each<[string, QueueHandlerOptions, string]>([
    [
      'a queue without groups',
      { batch: 5 },
      "queue 'mails' has no groups; set queues['mails'].groups, such as { concurrency: 5 }",
    ],
    [
      'groups with a concurrency of 1',
      { batch: 5, groups: {} },
      "because queue 'mails' has groups: { concurrency: 1 }; raise that, such as { concurrency: 5 }",
    ],
    ['a layout without groups', { batch: 5, layout: redisson() }, "queue 'mails' has no groups"],
    ['single messages', {}, 'batchPerGroup needs batch, the maximum number of messages in one call'],
  ])('is refused at startup for %s', async (_what, options, problem) => {
    const start = scene.startApp({ module: { store: 'memory' }, providers: [batchesOf('mails', [], options)] });
    await expect(start).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    await expect(start).rejects.toThrow('@DelayedHandler on Batches.handle: batchPerGroup');
    await expect(start).rejects.toThrow(problem);
  });

  test('is refused for a family if one of its queues has no groups', async () => {
    const providers = [batchesOf('mails-*', [], { batch: 5, groups: { concurrency: 5 } })];
    const module = { store: 'memory', queues: { 'mails-one': { groups: 'off' } } } as const;
    await expect(scene.startApp({ module, providers })).rejects.toThrow("queue 'mails-one' has no groups");
  });

  test('applies to each queue of a family separately', async () => {
    const batches: Batch[] = [];
    const providers = [batchesOf('mails-*', batches, { batch: 2, batchWait: '1h', groups: { concurrency: 2 } })];
    const { producer } = await scene.startApp({ providers });
    await producer.offerMany('mails-one', offersOf(['a1', 'b1']));
    await producer.offerMany('mails-two', offersOf(['a2', 'b2', 'a3']));
    await until(() => batches.length === 1, { within: 20_000 });
    expect(batches).toEqual([['a2', 'a3']]);
  });

  test('applies in a named instance', async () => {
    const batches: Batch[] = [];
    const billing = { batch: 2, batchWait: '1h', groups: { concurrency: 2 }, instance: 'billing' } as const;
    const { context } = await scene.startApp({
      module: { store: 'memory' },
      imports: [DelayQueueModule.forRoot({ name: 'billing', store: 'memory' })],
      providers: [batchesOf('mails', batches, billing)],
    });
    const producer = context.get<DelayQueueProducer>(getDelayQueueProducerToken('billing'), { strict: false });
    await producer.offerMany('mails', offersOf(['a1', 'b1', 'a2']));
    await until(() => batches.length === 1, { within: 20_000 });
    expect(batches).toEqual([['a1', 'a2']]);
  });

  test('applies under test: messages due at the same moment form one batch per group', async () => {
    const batches: Batch[] = [];
    const options = { batch: 10, batchWait: '1m', groups: { concurrency: 4 } } as const;
    const { tester, producer } = await apps.startParts({ providers: [batchesOf('mails', batches, options)] });
    await producer.offerMany('mails', offersOf(['a1', 'b1', '1', 'a2', '2', 'b2', 'a3'], 1000));
    await tester.advance('1s');
    expect(batches.map((batch) => batch.join(' ')).sort()).toEqual(['1 2', 'a1 a2 a3', 'b1 b2']);
    expect(await tester.handle('mails', 'a4', { id: 'a4', group: 'a' })).toEqual({ kind: 'ack' });
    expect(batches.at(-1)).toEqual(['a4']);
  });
});
