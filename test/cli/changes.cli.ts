import { beforeEach, describe, expect, it } from '@jest/globals';
import { type DelayedMessage, type DelayQueueProducer, RejectMessage } from '../../lib/index.js';
import { runCommandLine } from '../../packages/cli/src/program.js';
import { jsonLines, runCommand } from '../support/command-line.js';
import { Latch } from '../support/latch.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { TestTerminal } from '../support/test-terminal.js';
import { until } from '../support/until.js';

const scene = new Scene();
const run = (...words: string[]) => runCommand(scene, ...words);
const fine = (output: string) => ({ code: 0, output: `${output}\n`, problems: '' });
const refused = (problems: string) => ({ code: 1, output: '', problems: `${problems}\n` });

let queue: string;
let producer: DelayQueueProducer;

/** Makes dead letters, in this order. */
async function deadLetter(...ids: readonly string[]): Promise<void> {
  const refuse = () => {
    throw new RejectMessage('no');
  };
  const app = await scene.startApp({ providers: [handlerOf(queue, refuse)] });
  for (const [i, id] of ids.entries()) {
    await app.producer.offer(queue, id, 0, { id });
    await until(async () => (await app.producer.counts(queue)).dead === i + 1);
  }
  await app.close();
}

beforeEach(async () => {
  queue = scene.newQueue();
  ({ producer } = await scene.startApp({ module: { consume: false } }));
});

describe('the command line', () => {
  it('cancels a delayed message', async () => {
    await producer.offer(queue, {}, '1h', { id: 'a' });
    await producer.offer(queue, {}, '1h', { id: 'b' });
    expect(await run('cancel', queue, 'a', '--yes')).toEqual(fine("Cancelled 'a'."));
    expect(jsonLines((await run('cancel', queue, 'b', '-y', '--json')).output)).toEqual([
      { queue, id: 'b', cancelled: true },
    ]);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 0 });
  });

  it('frees the id of a handled message, and says so if it is not kept', async () => {
    const module = { queues: { [queue]: { idsFor: { for: '1h' } } } } as const;
    const app = await scene.startApp({ module, providers: [handlerOf(queue, () => undefined)] });
    for (const id of ['a', 'b']) {
      await app.producer.offer(queue, {}, 0, { id });
      await until(async () => (await app.producer.find(queue, id)) === null);
    }
    expect(await run('free-id', queue, 'a', '--yes')).toEqual(fine("Freed 'a'."));
    expect(await run('free-id', queue, 'a', '--yes')).toEqual(refused(`Queue '${queue}' does not keep the id 'a'.`));
    expect(jsonLines((await run('free-id', queue, 'b', '-y', '--json')).output)).toEqual([
      { queue, id: 'b', freed: true },
    ]);
    expect(await app.producer.offer(queue, {}, '1h', { id: 'a' })).toMatchObject({ created: true });
  });

  it('cancels the delayed messages of a group', async () => {
    ({ producer } = await scene.startApp({ module: { consume: false, queues: { [queue]: { groups: {} } } } }));
    for (const id of ['a', 'b']) await producer.offer(queue, {}, '1h', { id, group: 'customer-7' });
    await producer.offer(queue, {}, '1h', { id: 'c', group: 'customer-8' });
    expect(await run('cancel', queue, '--group', 'customer-7', '--yes')).toEqual(fine('Cancelled: 2.'));
    expect(await producer.counts(queue)).toMatchObject({ delayed: 1 });
    const { output } = await run('cancel', queue, '--group', 'customer-8', '--yes', '--json');
    expect(jsonLines(output)).toEqual([{ queue, group: 'customer-8', cancelled: 1 }]);
    const problem = 'Say which: cancel <queue> <id>, cancel <queue> --group <name>, or cancel <queue> --matching\n';
    for (const words of [[], ['c', '--group', 'customer-8']]) {
      expect(await run('cancel', queue, ...words, '--yes')).toMatchObject({ code: 2, problems: problem });
    }
  });

  it('explains why a message cannot be cancelled', async () => {
    await deadLetter('a');
    const problem = "Message 'a' is not delayed, but dead: redrive or discard it. Nothing was changed.";
    expect(await run('cancel', queue, 'a', '--yes')).toEqual(refused(problem));
    expect(await run('cancel', queue, 'b', '--yes')).toMatchObject({ code: 1, output: '' });
  });

  it('reschedules a delayed message', async () => {
    await producer.offer(queue, {}, '1h', { id: 'a' });
    expect(await run('reschedule', queue, 'a', '30d', '--yes')).toEqual(fine("'a' falls due in 30d."));
    const { dueAt, offeredAt } = (await producer.find(queue, 'a'))!;
    expect(dueAt.getTime() - offeredAt.getTime()).toBeGreaterThan(29 * 24 * 60 * 60 * 1000);
    const { output } = await run('reschedule', queue, 'a', '1h', '--yes', '--json');
    expect(jsonLines(output)).toEqual([{ queue, id: 'a', rescheduled: true }]);
  });

  it('aborts an active message', async () => {
    const started = new Latch();
    const wait = (_payload: unknown, { signal }: DelayedMessage) => {
      started.open();
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    };
    await scene.startApp({ providers: [handlerOf(queue, wait)] });
    await producer.offer(queue, {}, 0, { id: 'a' });
    await started.opened;
    expect(await run('abort', queue, 'a', '--yes')).toEqual(fine("Aborted 'a'."));
    await producer.offer(queue, {}, '1h', { id: 'b' });
    const problem = "Message 'b' is not active, but delayed. Nothing was changed.";
    expect(await run('abort', queue, 'b', '--yes')).toEqual(refused(problem));
    expect(await run('abort', queue, 'a', '--yes')).toMatchObject({ code: 1, output: '' });
  });

  it('redrives one dead letter, then all of them', async () => {
    await deadLetter('a', 'b', 'c');
    expect(await run('redrive', queue, 'b', '--yes')).toEqual(fine("Redriven: 'b'."));
    expect(await producer.find(queue, 'b')).toMatchObject({ state: 'delayed' });
    expect(await run('redrive', queue, 'b', '--yes')).toEqual(
      refused(`Queue '${queue}' has no dead letter 'b'. Nothing was changed.`),
    );
    const { output } = await run('redrive', queue, '--all', '--yes', '--json');
    expect(jsonLines(output)).toEqual([{ queue, redriven: 2 }]);
    expect(await producer.counts(queue)).toMatchObject({ dead: 0 });
  });

  it('discards one dead letter, then all of them', async () => {
    await deadLetter('a', 'b', 'c');
    expect(await run('discard', queue, 'b', '--yes')).toEqual(fine("Discarded: 'b'."));
    expect(await producer.find(queue, 'b')).toBeNull();
    expect(await run('discard', queue, '--all', '--yes')).toEqual(fine('Discarded: 2.'));
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
  });

  it('removes all messages of a queue, and says on a terminal how many there are', async () => {
    await deadLetter('a', 'b');
    for (const id of ['c', 'd', 'e']) await producer.offer(queue, {}, '1h', { id });
    const words = ['--url', scene.url, '--prefix', scene.prefix, 'clear', queue];
    const terminal = new TestTerminal({ isTTY: true, answers: ['n\n'] });
    expect(await runCommandLine(words, terminal)).toBe(1);
    expect(terminal.said).toContain(`Remove all messages of queue '${queue}': 3 delayed, 0 ready, 0 active, 2 dead`);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 3, dead: 2 });
    expect(await run('clear', queue, '--yes')).toEqual(fine('Removed: 5.'));
    expect(await producer.counts(queue)).toEqual({ delayed: 0, ready: 0, active: 0, dead: 0 });
    expect(jsonLines((await run('clear', queue, '-y', '--json')).output)).toEqual([{ queue, removed: 0 }]);
  });

  it('pauses and resumes a queue', async () => {
    await producer.offer(queue, {}, '1h');
    expect(await run('pause', queue, '--yes')).toEqual(fine(`Queue '${queue}' is paused.`));
    expect(await producer.isPaused(queue)).toBe(true);
    expect(jsonLines((await run('resume', queue, '--yes', '--json')).output)).toEqual([{ queue, paused: false }]);
    expect(await producer.isPaused(queue)).toBe(false);
  });

  it('pauses and resumes a group', async () => {
    ({ producer } = await scene.startApp({ module: { consume: false, queues: { [queue]: { groups: {} } } } }));
    await producer.offer(queue, {}, '1h', { group: 'acme' });
    const pausedGroups = async () => {
      const { groups } = await producer.groups(queue);
      return groups.filter(({ paused }) => paused).map(({ group }) => group);
    };
    expect(await run('pause', queue, '--group', 'acme', '--yes')).toEqual(
      fine(`Group 'acme' of queue '${queue}' is paused.`),
    );
    expect(await pausedGroups()).toEqual(['acme']);
    expect(await producer.isPaused(queue)).toBe(false);
    const { output } = await run('resume', queue, '--group', 'acme', '--yes', '--json');
    expect(jsonLines(output)).toEqual([{ queue, group: 'acme', paused: false }]);
    expect(await pausedGroups()).toEqual([]);
    expect(await run('pause', queue, '--group', '', '--yes')).toMatchObject({ code: 2, output: '' });
  });

  it('sets the concurrency of a group', async () => {
    ({ producer } = await scene.startApp({ module: { consume: false, queues: { [queue]: { groups: {} } } } }));
    await producer.offer(queue, {}, '1h', { group: 'acme' });
    const concurrency = async () => (await producer.groups(queue)).groups.map((group) => group.concurrency);
    expect(await run('group-concurrency', queue, 'acme', '3', '--yes')).toEqual(
      fine(`The concurrency of group 'acme' of queue '${queue}' is now 3.`),
    );
    expect(await concurrency()).toEqual([3]);
    const { output } = await run('group-concurrency', queue, 'acme', 'unlimited', '--yes', '--json');
    expect(jsonLines(output)).toEqual([{ queue, group: 'acme', concurrency: 'unlimited' }]);
    expect(await concurrency()).toEqual(['unlimited']);
    expect((await run('group-concurrency', queue, 'acme', 'default', '--yes')).code).toBe(0);
    expect(await concurrency()).toEqual([]);
    for (const wrong of ['0', '1000001', '1.5', 'many']) {
      const { code, problems } = await run('group-concurrency', queue, 'acme', wrong, '--yes');
      expect(code).toBe(2);
      expect(problems).toContain("Give a whole number from 1 to 1,000,000, 'unlimited' or 'default'.");
    }
    expect(await concurrency()).toEqual([]);
  });

  it('sets, shows and resets limits', async () => {
    await producer.offer(queue, {}, '1h');
    expect(await run('limits', queue)).toEqual(fine(`No limits were set for queue '${queue}'.`));
    const set = ['set-limits', queue, '--global-concurrency', '5', '--rate', '100/1s', '--by', 'alice', '--yes'];
    expect(await run(...set)).toEqual(fine(`Set the limits of queue '${queue}'.`));
    const limits = { globalConcurrency: 5, rate: { max: 100, per: 1000 }, setBy: 'alice' };
    expect(await producer.limits(queue).get()).toMatchObject(limits);
    expect(jsonLines((await run('limits', queue, '--json')).output)).toEqual([
      { queue, limits: { ...limits, setAt: expect.any(String) } },
    ]);
    expect((await run('limits', queue)).output).toContain('100 within 1000 ms');
    expect(await run('reset-limits', queue, '--yes')).toEqual(fine(`Reset the limits of queue '${queue}'.`));
    expect(await run('reset-limits', queue, '--yes')).toEqual(refused(`No limits were set for queue '${queue}'.`));
    expect(await run('set-limits', queue, '--yes')).toMatchObject({ code: 2 });
    expect(await run('set-limits', queue, '--rate', '100', '--yes')).toMatchObject({ code: 2 });
  });

  it('discards nothing without --yes if there is no terminal to confirm on', async () => {
    await deadLetter('dead');
    const problem =
      'This would change Redis and needs a confirmation, but there is no terminal: add --yes. Nothing was changed.';
    expect(await run('discard', queue, '--all')).toEqual(refused(problem));
    expect(await producer.counts(queue)).toMatchObject({ dead: 1 });
    expect(await run('pause', queue, '--group', 'acme')).toEqual(refused(problem));
  });
});
