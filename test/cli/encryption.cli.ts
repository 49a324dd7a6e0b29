import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encryption } from '../../lib/encryption/index.js';
import { jsonLines, runCommand } from '../support/command-line.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
const SECRET = '4111111111111111';

describe('the command line, of an encrypted queue', () => {
  const scene = new Scene();
  const queue = scene.newQueue();
  const run = (...words: string[]) => runCommand(scene, ...words);
  let folder: string;
  const file = async (content: string) => {
    const name = path.join(folder, 'keys.json');
    await writeFile(name, content);
    return name;
  };

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'keys-'));
    const fail = () => {
      throw new Error(`card ${SECRET}`);
    };
    const module = { defaults: { encryption: encryption({ current: 'k1', keys: { k1: KEY } }) } };
    const app = await scene.startApp({ module, providers: [handlerOf(queue, fail, { attempts: 1 })] });
    const headers = { tenant: 'acme' };
    await app.producer.offer(queue, { card: SECRET }, '1h', { id: 'later', type: 'charge', headers });
    await app.producer.offer(queue, { card: SECRET }, 0, { id: 'dead' });
    await until(async () => (await app.producer.counts(queue)).dead === 1);
    await app.close();
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('shows that messages and errors are encrypted, and with which key', async () => {
    const list = await run('list', queue, 'delayed');
    expect(list.output).toMatch(/later +charge .* encrypted with key 'k1:\w{8}'/);
    const show = await run('show', queue, 'dead');
    expect(show.output).toMatch(/error +Encrypted: This error is encrypted with key 'k1:\w{8}'/);
    const [record] = jsonLines((await run('show', queue, 'later', '--json')).output);
    expect(record).toMatchObject({
      encryptedWith: expect.stringMatching(/^k1:/),
      payloadBase64: expect.any(String),
      headers: {},
    });
    for (const { output } of [list, show]) expect(output).not.toContain(SECRET);
  });

  it('shows that the payload of a handled message is encrypted', async () => {
    const handled = scene.newQueue();
    const keys = encryption({ current: 'k1', keys: { k1: KEY } });
    const queues = { [handled]: { history: { for: '1h', payloads: true }, encryption: keys } } as const;
    const app = await scene.startApp({ module: { queues }, providers: [handlerOf(handled, () => undefined)] });
    await app.producer.offer(handled, { card: SECRET }, 0, { id: 'a' });
    await until(async () => (await app.producer.list(handled, 'handled')).messages.length === 1);
    const show = await run('show', handled, 'a');
    expect(show.output).toMatch(/payload +encrypted with key 'k1:\w{8}'/);
    const list = await run('list', handled, 'handled', '--json');
    expect(jsonLines(list.output)).toMatchObject([
      { id: 'a', encryptedWith: expect.stringMatching(/^k1:/) as unknown },
    ]);
    for (const { output } of [show, list]) expect(output).not.toContain(SECRET);
  });

  it('says that it cannot search for a text', async () => {
    const { output, problems, code } = await run('search', queue, 'delayed', '--text', SECRET);
    expect({ code, problems }).toEqual({
      code: 0,
      problems: `Not searched, because encrypted: 1 message of ${queue}; give the keys with --encryption\n`,
    });
    expect(output).not.toContain('later');
    expect((await run('search', queue, 'delayed', '--type', 'charge')).output).toContain('later');
    const cancel = await run('cancel', queue, '--matching', '--text', SECRET, '--yes');
    expect(cancel).toMatchObject({ output: 'Cancelled: 0.\n', problems: expect.stringContaining('Not searched') });
  });

  it('shows and searches everything with the keys', async () => {
    const keys = ['--encryption', await file(JSON.stringify({ current: 'k1', keys: { k1: KEY } }))];
    const show = await run('show', queue, 'later', ...keys);
    expect(show.output).toContain(`payload          {"card":"${SECRET}"}`);
    expect(show.output).toContain('headers          {"tenant":"acme"}');
    expect((await run('errors', queue, ...keys)).output).toContain(`card ${SECRET}`);
    const search = await run('search', queue, 'delayed', '--text', SECRET, ...keys);
    expect(search).toMatchObject({ output: expect.stringContaining('later'), problems: '' });
  });

  it.each([
    ['is not there', undefined, '--encryption: the file cannot be read (ENOENT).'],
    ['is not JSON', KEY, '--encryption: the file is not JSON.'],
    [
      'has too short a key',
      JSON.stringify({ current: 'k', keys: { k: KEY.slice(8) } }),
      'keys.k: must be 32 random bytes',
    ],
  ])('refuses a file that %s, without showing it', async (_, content, problem) => {
    const name = content === undefined ? path.join(folder, 'none.json') : await file(content);
    const result = await run('list', queue, 'delayed', '--encryption', name);
    expect(result).toMatchObject({ code: 2, problems: expect.stringContaining(problem) });
    expect(result.problems).not.toContain(KEY.slice(8));
  });
});
