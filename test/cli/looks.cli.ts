import { beforeAll, describe, expect, it } from '@jest/globals';
import { calendar } from '../../lib/calendar/index.js';
import { RejectMessage } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { jsonLines, runCommand } from '../support/command-line.js';
import { putMessage } from '../support/put-message.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const scene = new Scene();
const run = (...words: string[]) => runCommand(scene, ...words);

/** With the instants that differ from run to run hidden. */
const shown = (output: string) =>
  output
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'INSTANT')
    .trimEnd()
    .split('\n');

const matching = (cell: string | RegExp): unknown => (typeof cell === 'string' ? cell : expect.stringMatching(cell));

const queue = scene.newQueue();
const other = scene.newQueue();

beforeAll(async () => {
  const refuse = () => {
    throw new RejectMessage('no such order\n\u001b[31m');
  };
  const app = await scene.startApp({ providers: [handlerOf(queue, refuse)] });
  await app.producer.offer(queue, { order: 1 }, 0, { id: 'dead-one', type: 'unpaid' });
  await until(async () => (await app.producer.counts(queue)).dead === 1);
  await app.close();
  const { producer } = await scene.startApp({ module: { consume: false } });
  await producer.offer(queue, { order: 2 }, '1h', { id: 'later', headers: { tenant: 'a' } });
  await producer.offer(queue, { order: 3 }, '2h', { id: 'last', type: 'unpaid' });
  await producer.offer(queue, Buffer.from([0, 1, 255]), '3h', { id: 'bytes' });
  await producer.offer(other, 'x', '1h', { id: 'x' });
  await producer.pause(other);
});

describe('the command line', () => {
  it('lists the names of the queues, one per line', async () => {
    const names = [queue, other].sort();
    expect(await run('queues')).toEqual({ code: 0, output: `${names.join('\n')}\n`, problems: '' });
    const { output } = await run('queues', '--json');
    expect(jsonLines(output)).toEqual(names.map((name) => ({ queue: name })));
  });

  it('counts the messages of all queues, or of one', async () => {
    const { output, code } = await run('counts');
    expect(code).toBe(0);
    expect(shown(output)).toHaveLength(3);
    const one = await run('counts', other);
    expect(shown(one.output)[1]).toBe(`${other}        1      0       0     0  yes     INSTANT`);
    const { output: json } = await run('counts', queue, '--json');
    expect(jsonLines(json)).toEqual([
      { queue, delayed: 3, ready: 0, active: 0, dead: 1, paused: false, nextDue: expect.any(String) },
    ]);
  });

  it('counts the messages of each type', async () => {
    const { output } = await run('counts', queue, '--by-type');
    expect(shown(output)).toEqual([
      'type    delayed  ready  active  dead',
      '(none)        2      0       0     0',
      'unpaid        1      0       0     1',
    ]);
    const { output: json } = await run('counts', queue, '--by-type', '--json');
    expect(jsonLines(json)).toContainEqual({ queue, type: 'unpaid', delayed: 1, ready: 0, active: 0, dead: 1 });
  });

  it('lists the messages in a state, in order', async () => {
    const { output, code } = await run('list', queue, 'delayed');
    expect(code).toBe(0);
    expect(shown(output)).toEqual([
      'id     type    due                       failed  payload',
      'later          INSTANT       0  {"order":2}',
      'last   unpaid  INSTANT       0  {"order":3}',
      'bytes          INSTANT       0  3 bytes, base64: AAH/',
    ]);
    const { output: json } = await run('list', queue, 'dead', '--json');
    expect(jsonLines(json)).toMatchObject([{ id: 'dead-one', state: 'dead', error: { name: 'RejectMessage' } }]);
  });

  it('shows the rule of a repeating message and its next occurrence', async () => {
    const repeating = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false, calendar } });
    await producer.offer(repeating, null, '1h', { id: 'b' });
    const rule = { cron: '0 0 1 1 *', timeZone: 'Asia/Tokyo', missed: 'skip' } as const;
    const { dueAt } = await producer.repeat(repeating, 'a', rule, {});
    const { output } = await run('list', repeating, 'delayed');
    expect(shown(output).map((line) => line.split(/  +/))).toEqual([
      ['id', 'type', 'due', 'failed', 'repeats', 'payload'],
      ['b', 'INSTANT', '0', 'null'],
      ['a', 'INSTANT', '0', '0 0 1 1 * (Asia/Tokyo, skips missed occurrences)', '{}'],
    ]);
    const { output: one } = await run('show', repeating, 'a');
    expect(one).toContain(`due              ${dueAt.toISOString()}\nrepeats          0 0 1 1 * (Asia/Tokyo,`);
    const { output: json } = await run('show', repeating, 'a', '--json');
    expect(jsonLines(json)).toMatchObject([{ id: 'a', repeat: rule, dueAt: dueAt.toISOString() }]);
    expect((await run('cancel', repeating, 'a', '--yes')).code).toBe(0);
    expect(await producer.find(repeating, 'a')).toBeNull();
  });

  it("shows a message's own attempts and backoff", async () => {
    const own = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false } });
    await producer.offer(own, null, '1h', { id: 'a', attempts: 3, backoff: { type: 'fixed', delay: '1m' } });
    await producer.offer(own, null, '2h', { id: 'b', backoff: { type: 'exponential' } });
    const { output } = await run('list', own, 'delayed');
    expect(shown(output).map((line) => line.split(/  +/))).toEqual([
      ['id', 'type', 'due', 'failed', 'payload'],
      ['a', 'INSTANT', '0 of 3', 'null'],
      ['b', 'INSTANT', '0', 'null'],
    ]);
    const { output: one } = await run('show', own, 'a');
    expect(one).toContain('failed attempts  0 of 3\nbackoff          60000 ms\n');
    const { output: other } = await run('show', own, 'b');
    expect(other).toContain('failed attempts  0\nbackoff          1000 ms × 2, up to 3600000 ms, ± 20 %\n');
    const { output: json } = await run('show', own, 'a', '--json');
    expect(jsonLines(json)).toMatchObject([{ attempts: 3, backoff: { type: 'fixed', delay: 60_000, jitter: 0 } }]);
  });

  it('lists what a queue with a history has handled, and shows one of them', async () => {
    const remembering = scene.newQueue();
    const queues = { [remembering]: { history: { for: '1h', payloads: true } } } as const;
    const app = await scene.startApp({ module: { queues }, providers: [handlerOf(remembering, () => undefined)] });
    for (const id of ['a', 'b']) {
      await app.producer.offer(remembering, { of: id }, 0, { id, type: 'mail', attempts: 3 });
      await until(async () => (await app.producer.find(remembering, id, { handled: true }))?.state === 'handled');
    }
    await app.close();
    const { output } = await run('list', remembering, 'handled');
    expect(shown(output).map((line) => line.split(/  +/))).toEqual([
      ['id', 'type', 'handled', 'late ms', 'took ms', 'attempt', 'worker'],
      ...['b', 'a'].map((id) => [id, 'mail', 'INSTANT', /\d+/, /\d+/, '1', /:/].map((cell) => matching(cell))),
    ]);
    const { output: first } = await run('list', remembering, 'handled', '--limit', '1');
    const [, cursor] = /More: --cursor '(.*)'/.exec(first)!;
    const rest = await run('list', remembering, 'handled', '--cursor', cursor!, '--json');
    expect(jsonLines(rest.output)).toMatchObject([{ id: 'a', state: 'handled', payload: { of: 'a' }, attempt: 1 }]);
    const { output: one } = await run('show', remembering, 'a');
    expect(one).toMatch(/^state +handled$/m);
    expect(one).toMatch(/^attempt +1 of 3$/m);
    expect(one).toMatch(new RegExp(`^worker +.*, process ${process.pid}, `, 'm'));
    expect(one).toMatch(/^payload +\{"of":"a"\}$/m);
    const problems = '--group: handled messages have no index of groups';
    const refused = await run('list', remembering, 'handled', '--group', 'g');
    expect(refused).toMatchObject({ code: 2, problems: expect.stringContaining(problems) as unknown });
  });

  it('lists repetitions, pauses, resumes, runs and ends them', async () => {
    const repeating = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false, calendar } });
    await producer.offer(repeating, null, '1h', { id: 'once' });
    await producer.repeat(repeating, 'a', { every: '1d', limit: 3, missed: 'each', type: 'digest' }, {});
    await producer.repeat(repeating, 'b', { cron: '0 0 1 1 *' }, {});
    const listed = async () => shown((await run('repeats', repeating)).output).map((line) => line.split(/  +/));
    expect(await listed()).toEqual([
      ['id', 'type', 'state', 'next', 'repeats'],
      ['a', 'digest', 'delayed', 'INSTANT', 'every 1d (0 of 3, makes up for each missed occurrence)'],
      ['b', 'delayed', 'INSTANT', '0 0 1 1 * (UTC)'],
    ]);
    for (const id of ['a', 'b']) {
      expect(await run('repeat', 'pause', repeating, id, '--yes')).toMatchObject({ output: `'${id}' is paused.\n` });
    }
    expect((await listed()).slice(1)).toEqual([
      ['a', 'digest', 'paused', 'every 1d (0 of 3, makes up for each missed occurrence, paused)'],
      ['b', 'paused', '0 0 1 1 * (UTC, paused)'],
    ]);
    for (const id of ['a', 'b']) {
      expect(await run('repeat', 'resume', repeating, id, '--yes')).toMatchObject({ output: `'${id}' is resumed.\n` });
    }
    const { output } = await run('repeat', 'run', repeating, 'a', '--yes');
    expect(output).toMatch(/^'\{a\}\+[-\d:T.]+Z' is due now\.\n$/);
    expect((await run('repeat', 'end', repeating, 'a', '--yes')).code).toBe(0);
    expect(await producer.find(repeating, 'a')).toBeNull();
    for (const action of ['pause', 'resume', 'run', 'end']) {
      const { code, problems } = await run('repeat', action, repeating, 'once', '--yes');
      expect([code, problems]).toEqual([
        1,
        `No message 'once' of queue '${repeating}' repeats. Nothing was changed.\n`,
      ]);
    }
    expect((await run('repeat', 'stop', repeating, 'b', '--yes')).code).toBe(2);
  });

  it('prints a cursor if a list has more messages, and continues from it', async () => {
    const { output } = await run('list', queue, 'delayed', '--limit', '2');
    const [, cursor] = /^More: --cursor '(.*)'$/m.exec(output)!;
    const rest = await run('list', queue, 'delayed', '--cursor', cursor!, '--json');
    expect(jsonLines(rest.output)).toMatchObject([{ id: 'bytes' }]);
    const page = await run('list', queue, 'delayed', '--offset', '1', '--limit', '1', '--json');
    expect(jsonLines(page.output)).toMatchObject([{ id: 'last' }, { cursor: expect.any(String) }]);
  });

  it('shows a message with its payload and headers', async () => {
    const { output, code } = await run('show', queue, 'later');
    expect(code).toBe(0);
    expect(shown(output)).toEqual([
      'id               later',
      `queue            ${queue}`,
      'state            delayed',
      'headers          {"tenant":"a"}',
      'failed attempts  0',
      'offered          INSTANT',
      'due              INSTANT',
      'payload          {"order":2}',
    ]);
    const { output: json } = await run('show', queue, 'later', '--json');
    expect(jsonLines(json)).toMatchObject([{ id: 'later', state: 'delayed', payload: { order: 2 } }]);
  });

  it('shows a dead letter with its error and without terminal control sequences', async () => {
    const { output } = await run('show', queue, 'dead-one');
    expect(output).toContain('state            dead\n');
    expect(output).toMatch(/^error +RejectMessage: no such order\\n\\u\{1b\}\[31m$/m);
    expect(output).not.toContain('\u001b');
  });

  it('shows the group of each message, and lists the messages of one group', async () => {
    const grouped = scene.newQueue();
    const { producer } = await scene.startApp({ module: { consume: false, queues: { [grouped]: { groups: {} } } } });
    await producer.offer(grouped, 1, '1h', { id: 'a1', group: 'customer-7' });
    await producer.offer(grouped, 2, '2h', { id: 'b1', group: 'customer-8' });
    await producer.offer(grouped, 3, '3h', { id: 'plain' });
    expect(shown((await run('counts', grouped)).output)[1]).toContain('  3      0       0     0  no');
    expect(shown((await run('list', grouped, 'delayed')).output)).toEqual([
      'id     type  group       due                       failed  payload',
      'a1           customer-7  INSTANT       0  1',
      'b1           customer-8  INSTANT       0  2',
      'plain                    INSTANT       0  3',
    ]);
    const { output: json } = await run('list', grouped, 'delayed', '--group', 'customer-8', '--json');
    expect(jsonLines(json)).toMatchObject([{ id: 'b1', group: 'customer-8' }]);
    expect((await run('show', grouped, 'a1')).output).toContain('group            customer-7\n');
    const problems = '--offset cannot be combined with --group: use --cursor\n';
    expect(await run('list', grouped, 'delayed', '--group', 'a', '--offset', '1')).toMatchObject({ code: 2, problems });
  });

  it('shows bytes as base64', async () => {
    const { output } = await run('show', queue, 'bytes');
    expect(output).toContain('payload          3 bytes, base64: AAH/');
    const { output: json } = await run('show', queue, 'bytes', '--json');
    expect(jsonLines(json)).toMatchObject([{ id: 'bytes', payloadBase64: 'AAH/' }]);
  });

  it('shows an unreadable payload as bytes', async () => {
    await scene.redis.hset(scene.key(queue, 'messages'), 'bytes', Buffer.from('00000000000000000000000058', 'hex'));
    const { output, code } = await run('show', queue, 'bytes');
    expect(code).toBe(0);
    expect(output).toContain('payload          1 byte, base64: ');
  });

  it('reports that a message does not exist', async () => {
    const { code, output, problems } = await run('show', queue, 'nobody');
    const problem = `Queue '${queue}' has no message 'nobody': it was handled or removed, or never offered.\n`;
    expect({ code, output, problems }).toEqual({ code: 1, output: '', problems: problem });
  });
});

describe('a queue with partitions', () => {
  const split = scene.newQueue();
  const ids = Array.from({ length: 20 }, (_, i) => `m${String(i).padStart(2, '0')}`);

  beforeAll(async () => {
    const { producer } = await scene.startApp({ module: { queues: { [split]: { partitions: 8 } } } });
    for (const [i, id] of ids.entries()) await producer.offer(split, i, (i + 1) * 3_600_000, { id });
  });

  it('is counted and listed as one queue, without further options', async () => {
    const { output: counts } = await run('counts', split, '--json');
    expect(jsonLines(counts)).toMatchObject([{ queue: split, delayed: 20 }]);
    const { output: all } = await run('counts', '--json');
    expect(jsonLines(all)).toContainEqual(expect.objectContaining({ queue: split, delayed: 20 }));
    const { output: listed } = await run('list', split, 'delayed', '--json');
    expect(jsonLines(listed)).toMatchObject(ids.map((id) => ({ id })));
    for (const id of ids.slice(0, 3)) expect((await run('show', split, id)).code).toBe(0);
  });
});

describe('the command line with unusual messages', () => {
  it('shows messages that were not written by an offer, and those next to them', async () => {
    const damaged = scene.newQueue();
    const keys = nativeKeys(scene.prefix, damaged);
    const deep = `J${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    await putMessage(scene.redis, keys, { id: 'headless', body: 'jnull\n{"order":1}', dueAt: 4e12 });
    await putMessage(scene.redis, keys, { id: 'deep', body: deep, dueAt: 4.1e12 });
    await putMessage(scene.redis, keys, { id: 'sound', body: 'J"fine"', dueAt: 4.2e12 });
    await putMessage(scene.redis, keys, { id: 'never', body: 'J"waits"', dueAt: 4.3e12 });
    await scene.redis.zadd(keys.delayed, 9e15, 'never');

    const listed = await run('list', damaged, 'delayed');
    expect(listed).toMatchObject({ code: 0, problems: '' });
    expect(listed.output).toMatch(
      /headless .*17 bytes, base64.*\ndeep .*cannot be shown as JSON.*\nsound .*"fine"\nnever .*"waits"/,
    );
    const { output: json } = await run('list', damaged, 'delayed', '--json');
    expect(jsonLines(json)).toMatchObject([
      { id: 'headless', headers: {}, payloadBase64: Buffer.from('jnull\n{"order":1}').toString('base64') },
      { id: 'deep', payload: expect.stringContaining('cannot be shown as JSON') },
      { id: 'sound', payload: 'fine' },
      { id: 'never', payload: 'waits' },
    ]);
    for (const id of ['headless', 'deep', 'sound', 'never']) {
      expect(await run('show', damaged, id)).toMatchObject({ code: 0, problems: '' });
      expect((await run('show', damaged, id, '--json')).code).toBe(0);
    }
    await scene.redis.zrem(keys.delayed, 'headless', 'deep', 'sound');
    expect((await run('counts', damaged)).code).toBe(0);
    await scene.redis.unlink(keys.delayed, keys.messages);
  });

  it('shows a Java integer beyond the safe range as a string', async () => {
    const shared = scene.newQueue();
    const layout = { layout: redisson({ codec: 'kryo5' }) };
    const { producer } = await scene.startApp({ module: { consume: false, queues: { [shared]: layout } } });
    await producer.offer(shared, { order: 2n ** 60n }, '1h', { id: 'a' });
    const words = ['--layout', 'redisson', '--codec', 'kryo5'];
    const listed = await run('list', shared, 'delayed', ...words);
    expect(listed).toMatchObject({ code: 0, output: expect.stringContaining('{"order":"1152921504606846976"}') });
    const json = await run('show', shared, 'a', '--json', ...words);
    expect(jsonLines(json.output)).toMatchObject([{ id: 'a', payload: { order: '1152921504606846976' } }]);
    await producer.clear(shared);
  });
});
