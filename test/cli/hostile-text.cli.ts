import { beforeAll, describe, expect, it } from '@jest/globals';
import { RejectMessage } from '../../lib/index.js';
import { jsonLines, startCommand } from '../support/command-line.js';
import { Scene } from '../support/scene.js';
import { runInProcess } from '../support/test-terminal.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Text that controls a terminal or disguises itself as other text: a colour, a cursor movement and changes of direction. */
const OBEYED = ['\u0000', '\u0007', '\u001b[31m', '\u007f', '\u0085', '\u009b2J', '\u061c', '\u200e', '\u200f'];
const TURNS = ['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'];
const HOSTILE = `${[...OBEYED, ...TURNS].join('x')}\u2028y\u{e0001}`;
/** All of them; line feeds end the lines that are printed. */
const RAW = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\u{e0001}/u; // eslint-disable-line no-control-regex

const scene = new Scene();
const run = (...words: string[]) => runInProcess(scene, ...words);
const queue = scene.newQueue();

beforeAll(async () => {
  const refuse = () => {
    throw new RejectMessage(HOSTILE);
  };
  const app = await scene.startApp({ providers: [handlerOf(queue, refuse)] });
  await app.producer.offer(queue, HOSTILE, 0, { id: 'dead', headers: { [HOSTILE]: HOSTILE } });
  await until(async () => (await app.producer.counts(queue)).dead === 1);
  await app.producer.offer(queue, { [HOSTILE]: HOSTILE }, '1h', { id: 'later' });
});

describe.each<[string, string[]]>([
  ['text', []],
  ['JSON', ['--json']],
])('the command line with %s output', (_format, options: string[]) => {
  it.each([
    ['a list of delayed messages', 'list', queue, 'delayed'],
    ['a list of dead letters', 'list', queue, 'dead'],
    ['a dead letter', 'show', queue, 'dead'],
    ['a delayed message', 'show', queue, 'later'],
    ['an id that does not exist', 'show', queue, HOSTILE.replaceAll('\u0000', '')],
    ['a queue that does not exist', 'counts', HOSTILE.replaceAll('\u0000', '')],
    ['a message that cannot be cancelled', 'cancel', queue, 'no\u009bsuch\u202eid', '--yes'],
    ['an unknown command', 'no\u009bsuch\u202ecommand'],
    ['an unknown option', 'counts', queue, '--no\u009bsuch\u202eoption'],
    ['an unknown state', 'list', queue, 'no\u009bsuch\u202estate'],
    ['an invalid URL', 'counts', queue, '--url', 'no\u009bsuch\u202eurl'],
    ['an invalid duration', 'reschedule', queue, 'later', 'no\u009bsuch\u202eduration', '--yes'],
  ])('prints no terminal control sequences for %s', async (_what, ...words) => {
    const { output, problems } = await run(...words, ...options);
    expect(output + problems).not.toMatch(RAW);
    expect(output + problems).not.toBe('');
  });
});

describe('the option --json', () => {
  it('prints every string of a message unchanged', async () => {
    const { output } = await run('show', queue, 'dead', '--json');
    const [message] = jsonLines(output);
    expect(message).toMatchObject({ payload: HOSTILE, headers: { [HOSTILE]: HOSTILE }, error: { message: HOSTILE } });
  });
});

describe('tail', () => {
  it('prints no terminal control sequences with --json', async () => {
    const own = scene.newQueue();
    const refuse = () => {
      throw new RejectMessage(HOSTILE);
    };
    const app = await scene.startApp({ providers: [handlerOf(own, refuse)] });
    await app.producer.offer(own, HOSTILE, '1h');
    const child = startCommand(scene, ['tail', own, '--every', '100ms', '--json']);
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await until(() => printed.includes('start'), { within: 20_000 });
    await app.producer.offer(own, HOSTILE, 0);
    await until(() => printed.includes('"event":"dead"'), { within: 20_000 });
    child.kill('SIGINT');
    expect(printed).not.toMatch(RAW);
  });
});

describe('malformed names in the directory of queues', () => {
  const PLANTED = ['\u001b[31m', '{a}', 'a b', 'z\u202e', 'a'.repeat(129), 'tenant-{b}', ''];

  beforeAll(async () => {
    const names = `${scene.prefix}:{@queues}:names`;
    for (const name of PLANTED) await scene.redis.zadd(names, 0, name);
  });

  it('are not listed by the queues command', async () => {
    expect(await run('queues')).toEqual({ code: 0, output: `${await allQueues()}\n`, problems: '' });
  });

  it('do not prevent other queues from being counted', async () => {
    const { code, output, problems } = await run('counts', '--json');
    expect({ code, problems }).toEqual({ code: 0, problems: '' });
    expect(jsonLines(output).map((line) => (line as { queue: string }).queue)).toContain(queue);
  });

  const allQueues = async () => {
    const names = await scene.redis.zrange(`${scene.prefix}:{@queues}:names`, '0', '-1');
    return names.filter((name) => name.startsWith('queue')).join('\n');
  };
});
