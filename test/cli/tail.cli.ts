import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { RejectMessage } from '../../lib/index.js';
import { DueWatch } from '../../packages/cli/src/tail/due.watch.js';
import { type CommandSettings, jsonLines, startCommand } from '../support/command-line.js';
import { startRedis } from '../support/redis/start-redis.js';
import { Scene } from '../support/scene.js';
import { handlerOf, startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const scene = new Scene();
const refuse = () => {
  throw new RejectMessage('no such order');
};

/** Follows queues in a process of its own. */
function startTail(settings: CommandSettings, ...words: readonly string[]) {
  const child = startCommand(settings, ['tail', ...words, '--every', '100ms']);
  const tail = { output: '', problems: '' };
  child.stdout.on('data', (chunk: Buffer) => (tail.output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (tail.problems += chunk.toString()));
  const events = () => jsonLines(tail.output.slice(0, tail.output.lastIndexOf('\n') + 1)) as { event: string }[];
  const stop = async () => {
    const exited = once(child, 'exit');
    child.kill('SIGINT');
    await exited;
    return child.exitCode;
  };
  return { tail, events, stop };
}

describe('tail', () => {
  it('prints due messages and new dead letters until it is interrupted', async () => {
    const queue = scene.newQueue();
    const app = await scene.startApp({ providers: [handlerOf(queue, refuse)] });
    await app.producer.offer(queue, {}, 0, { id: 'before' });
    await until(async () => (await app.producer.counts(queue)).dead === 1);
    const { tail, stop } = startTail(scene, queue);
    await until(() => tail.output.includes('1 dead'), { within: 20_000 });
    // Long enough for a look in the meantime, however busy the machine is.
    await app.producer.offer(queue, {}, '15s', { id: 'new' });
    await until(() => tail.output.includes('dead  new'), { within: 60_000 });
    expect(await stop()).toBe(0);
    expect(tail.problems).toBe('');
    const lines = tail.output.trimEnd().split('\n');
    expect(lines.map((line) => line.replace(/^\S+Z {2}/, ''))).toEqual([
      `${queue}  0 delayed, 0 ready, 0 active, 1 dead`,
      `${queue}  due   1: new`,
      `${queue}  dead  new after 1 failed attempt: RejectMessage: no such order`,
    ]);
  });

  it('prints JSON for several queues', async () => {
    const [dying, quiet] = [scene.newQueue(), scene.newQueue()];
    const { producer } = await scene.startApp();
    for (const queue of [dying, quiet]) await producer.offer(queue, {}, '1h', { id: 'z' });
    const { events, stop } = startTail(scene, dying, quiet, '--json');
    await until(() => events().length === 2, { within: 20_000 });
    const sees = (...ids: string[]) => events().some((event) => JSON.stringify(event).includes(JSON.stringify(ids)));
    await producer.offerMany(dying, [
      { payload: 1, delay: 1000, id: 'a' },
      { payload: 2, delay: 1000, id: 'b' },
    ]);
    // Nobody handles a queue, so what is due stays overdue.
    await until(() => sees('a', 'b'));
    await scene.startApp({ providers: [handlerOf(dying, refuse)] });
    await until(() => events().filter(({ event }) => event === 'dead').length === 2);
    for (const id of ['c', 'd']) {
      await producer.offer(quiet, {}, '1s', { id });
      await until(() => sees(id));
    }
    expect(await stop()).toBe(0);
    const dead = events().filter(({ event }) => event === 'dead');
    expect(dead).toMatchObject([
      { queue: dying, id: 'a', payload: 1, error: { message: 'no such order' } },
      { queue: dying, id: 'b', payload: 2, error: { message: 'no such order' } },
    ]);
    const due = events().filter(({ event }) => event === 'due') as unknown as { queue: string; ids: string[] }[];
    expect(due.filter(({ queue }) => queue === dying).flatMap(({ ids }) => ids)).toEqual(['a', 'b']);
    expect(due.filter(({ queue }) => queue === quiet)).toMatchObject([
      { ids: ['c'], count: 1, atLeast: false },
      { ids: ['d'], count: 1, atLeast: false },
    ]);
  });

  it('says that more may have fallen due if a look comes much later than planned', async () => {
    const queue = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    const watch = new DueWatch(producer, queue, 100);
    const look = (at: number, nextDue: Date) => watch.look({ now: new Date(at), nextDue });
    const { dueAt: dueOfA } = await producer.offer(queue, {}, '1h', { id: 'a' });
    const { dueAt: dueOfB } = await producer.offer(queue, {}, '2h', { id: 'b' });
    expect(await look(dueOfA.getTime() - 9000, dueOfA)).toBeUndefined();
    expect(await look(dueOfA.getTime() + 1000, dueOfA)).toEqual({ ids: ['a'], atLeast: false });
    expect(await look(dueOfB.getTime() + 1000, dueOfB)).toEqual({ ids: ['b'], atLeast: true });
  });

  it('reports the start and the end of an outage once each, and continues', async () => {
    const redis = await startRedis();
    const app = await startTestApp({ connection: redis.url, prefix: 'delay-queue' });
    await app.producer.offer('orders', {}, '1h');
    await app.close();
    const { tail, stop } = startTail({ url: redis.url, prefix: 'delay-queue' }, 'orders', '--timeout', '200ms');
    await until(() => tail.output.includes('0 dead'), { within: 20_000 });
    await redis.kill9();
    await until(() => tail.problems.includes('Still trying.'));
    await redis.restart();
    await until(() => tail.problems.includes('Redis answers again.'));
    expect(tail.problems.trimEnd().split('\n')).toHaveLength(2);
    expect(await stop()).toBe(0);
    await redis.stop();
  });
});
