import { beforeEach, describe, expect, it } from '@jest/globals';
import { type DelayQueueProducer, RejectMessage } from '../../lib/index.js';
import { jsonLines, runCommand } from '../support/command-line.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const HOUR = 3_600_000;

const scene = new Scene();
const run = (...words: string[]) => runCommand(scene, ...words);
const fine = (output: string) => ({ code: 0, output: `${output}\n`, problems: '' });

let queue: string;
let producer: DelayQueueProducer;

/** Makes dead letters of two kinds. */
async function deadLetter(...ids: readonly string[]): Promise<void> {
  const refuse = (payload: unknown) => {
    throw String(payload).startsWith('type') ? new TypeError('no such order') : new RejectMessage('too late');
  };
  const app = await scene.startApp({ providers: [handlerOf(queue, refuse, { attempts: 1 })] });
  for (const [i, id] of ids.entries()) {
    await app.producer.offer(queue, id, 0, { id });
    await until(async () => (await app.producer.counts(queue)).dead === i + 1);
  }
  await app.close();
}

async function offerThree(): Promise<number> {
  const at = Date.now() + HOUR;
  await producer.offerAt(queue, { mail: 'ada@example.com' }, new Date(at), { id: 'a1', type: 'remind' });
  await producer.offerAt(queue, { mail: 'bob@example.com' }, new Date(at + 1000), { id: 'a2' });
  await producer.offerAt(queue, { mail: 'ada@example.com' }, new Date(at + 2000), { id: 'b1' });
  return at;
}

beforeEach(async () => {
  queue = scene.newQueue();
  const queues = { [queue]: { groups: { concurrency: 1 } } };
  ({ producer } = await scene.startApp({ module: { consume: false, queues } }));
});

describe('the command line', () => {
  it('finds messages by each option', async () => {
    const at = await offerThree();
    const idsOf = async (...words: string[]) => {
      const { output } = await run('search', queue, 'delayed', ...words, '--json');
      return jsonLines(output).map((line) => (line as { id: string }).id);
    };
    expect(await idsOf('--id-prefix', 'a')).toEqual(['a1', 'a2']);
    expect(await idsOf('--text', 'ADA@')).toEqual(['a1', 'b1']);
    expect(await idsOf('--type', 'remind')).toEqual(['a1']);
    expect(await idsOf('--repeats')).toEqual([]);
    const [from, to] = [new Date(at + 1).toISOString(), new Date(at + 2000).toISOString()];
    expect(await idsOf('--no-repeats', '--due-from', from, '--due-to', to)).toEqual(['a2']);
    const { output, code } = await run('search', queue, 'delayed', '--limit', '1', '--text', 'ada');
    expect(code).toBe(0);
    expect(output).toMatch(/^id .*\na1 .*ada@example\.com.*\nMore: --cursor 'delayed:\d+:a1'\n$/);
    const [, cursor] = /--cursor '(.*)'/.exec(output)!;
    expect(await idsOf('--text', 'ada', '--cursor', cursor!)).toEqual(['b1']);
  });

  it('counts messages by due time', async () => {
    const at = await offerThree();
    const [from, to] = [new Date(at), new Date(at + 2000)];
    const range = ['--from', from.toISOString(), '--to', to.toISOString(), '--buckets', '2'];
    const { output } = await run('histogram', queue, ...range, '--json');
    const histogram = { from: from.toISOString(), to: to.toISOString(), counts: [1, 1], before: 0, after: 1 };
    expect(jsonLines(output)).toEqual([{ queue, ...histogram }]);
    const shown = await run('histogram', queue);
    expect(shown.output.split('\n')).toHaveLength(28);
    expect(shown.output).toMatch(/#{40}/);
  });

  it('cancels and reschedules what matches', async () => {
    await offerThree();
    const reschedule = await run('reschedule', queue, '5h', '--matching', '--text', 'ada', '--yes');
    expect(reschedule).toEqual(fine('Rescheduled: 2.'));
    const due = { from: new Date(Date.now() + 4 * HOUR) };
    const { messages } = await producer.search(queue, { state: 'delayed', due });
    expect(messages.map(({ id }) => id).sort()).toEqual(['a1', 'b1']);
    const { output } = await run('cancel', queue, '--matching', '--id-prefix', 'a', '--yes', '--json');
    expect(jsonLines(output)).toEqual([{ queue, cancelled: 2, movedOn: 0, isComplete: true }]);
    expect(await producer.counts(queue)).toMatchObject({ delayed: 1 });
  });

  it('shows errors, and redrives and discards the dead letters of one of them', async () => {
    await deadLetter('type 1', 'late 1', 'type 2');
    const { output } = await run('errors', queue, '--json');
    const errors = jsonLines(output) as { count: number; name: string; frame: string }[];
    expect(errors.map(({ count, name }) => [count, name])).toEqual([
      [2, 'TypeError'],
      [1, 'RejectMessage'],
    ]);
    expect(errors[0]).toMatchObject({ message: 'no such order', example: 'type 2' });
    expect((await run('errors', queue)).output).toMatch(/^count +error.*\n +2 +TypeError +refuse /);
    const { name, frame } = errors[0]!;
    const discard = await run('discard', queue, '--matching', '--error', name, '--frame', frame, '--yes');
    expect(discard).toEqual(fine('Discarded: 2.'));
    expect(await run('redrive', queue, '--matching', '--error', 'RejectMessage', '--yes')).toEqual(
      fine('Redriven: 1.'),
    );
    expect(await producer.counts(queue)).toMatchObject({ delayed: 1, dead: 0 });
  });

  it('lists groups', async () => {
    const permit = (group: string) => scene.redis.hset(scene.key(queue, 'lane:lanes'), group, '1');
    await permit('g1');
    await permit('g2');
    await scene.redis.rpush(scene.key(queue, 'lane:line:g2'), 'next');
    await producer.offer(queue, 1, '1h');
    expect((await run('groups', queue)).output.split('\n').map((line) => line.trimEnd())).toEqual([
      'group  waiting  permits  concurrency  paused  held by',
      'g2           1        1  default      no',
      'g1           0        1  default      no',
      '',
    ]);
    expect(jsonLines((await run('groups', queue, '--limit', '1', '--json')).output)).toEqual([
      { queue, group: 'g2', waiting: 1, holding: 1, holders: [], paused: false },
      { queue, total: 2, isComplete: true },
    ]);
  });

  it('lists groups with settings of their own', async () => {
    await producer.offer(queue, 1, '1h');
    await producer.group(queue, 'g1').setConcurrency(3);
    await producer.group(queue, 'g2').setConcurrency('unlimited');
    await producer.group(queue, 'g3').pause();
    expect((await run('groups', queue)).output.split('\n')).toEqual([
      'group  waiting  permits  concurrency  paused  held by',
      'g1           0        0  3            no',
      'g2           0        0  unlimited    no',
      'g3           0        0  default      yes',
      '',
    ]);
    const nothing = { waiting: 0, holding: 0, holders: [] };
    expect(jsonLines((await run('groups', queue, '--json')).output)).toEqual([
      { queue, group: 'g1', ...nothing, paused: false, concurrency: 3 },
      { queue, group: 'g2', ...nothing, paused: false, concurrency: 'unlimited' },
      { queue, group: 'g3', ...nothing, paused: true },
      { queue, total: 0, isComplete: true },
    ]);
  });

  it('changes nothing unless it is clear what is meant', async () => {
    await offerThree();
    for (const [words, problem] of [
      [['cancel', queue, '--text', 'ada'], '--text needs --matching'],
      [['cancel', queue, 'a1', '--matching'], 'Say which: cancel'],
      [['reschedule', queue, 'a1', '1h', '--matching'], 'Say which: reschedule'],
      [['reschedule', queue, 'a1'], 'Say which: reschedule'],
      [['redrive', queue, '--error', 'TypeError'], '--error needs --matching'],
      [['discard', queue, '--all', '--matching'], 'Say which: discard'],
      [['discard', queue, '--matching', '--frame', 'x'], '--frame needs --error'],
      [['cancel', queue, '--matching', '--due-to', 'tomorrow'], '--due-to must be a time'],
      [['cancel', queue, '--matching', '--error', 'TypeError'], 'only dead letters'],
    ] as const) {
      expect(await run(...words, '--yes')).toMatchObject({ code: 2, problems: expect.stringContaining(problem) });
    }
    expect(await run('cancel', queue, '--matching')).toMatchObject({ code: 1 });
    expect(await producer.counts(queue)).toMatchObject({ delayed: 3 });
  });
});
