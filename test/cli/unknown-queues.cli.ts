import { beforeAll, describe, expect, it } from '@jest/globals';
import { Scene } from '../support/scene.js';
import { runInProcess } from '../support/test-terminal.js';

const scene = new Scene();
const run = (...words: string[]) => runInProcess(scene, ...words);

beforeAll(async () => {
  const { producer } = await scene.startApp({ module: { consume: false } });
  for (const queue of ['orders', 'orders2', 'parcels', 'mails']) {
    await producer.offer(queue, null, '1h', { id: 'a' });
    await producer.cancel(queue, 'a');
  }
  await producer.pause('never-offered');
});

describe('a queue that never existed', () => {
  it.each([
    'counts oders',
    'counts oders --by-type',
    'list oders dead',
    'show oders a',
    'tail oders',
    'tail orders oders',
    'cancel oders a --yes',
    'reschedule oders a 1h --yes',
    'redrive oders a --yes',
    'redrive oders --all --yes',
    'discard oders a --yes',
    'discard oders --all --yes',
    'pause oders --yes',
    'resume oders --yes',
    'clear oders --yes',
  ])('is rejected, and the most similar names are suggested: %s', async (line) => {
    const { code, output, problems } = await run(...line.split(' '));
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(problems).toBe(
      `There is no queue 'oders' with the prefix '${scene.prefix}'. Did you mean 'orders' or 'orders2'?\n`,
    );
  });

  it('is rejected with a pointer to the list of names if none is similar', async () => {
    const { code, problems } = await run('counts', 'something-else');
    expect(code).toBe(1);
    expect(problems).toBe(
      `There is no queue 'something-else' with the prefix '${scene.prefix}'. See: nestjs-delay-queue-cli queues\n`,
    );
  });

  it('is reported in JSON with --json', async () => {
    const { code, output, problems } = await run('counts', 'oders', '--json');
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(JSON.parse(problems)).toEqual({ message: expect.stringMatching(/no queue 'oders'/) });
  });

  it('is also rejected in another layout', async () => {
    const { code, problems } = await run('counts', 'oders', '--layout', 'redisson');
    expect(code).toBe(1);
    expect(problems).toMatch(/^There is no queue 'oders'/);
  });
});

describe('a queue that exists', () => {
  it('may be empty', async () => {
    const { code, output } = await run('counts', 'orders', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ queue: 'orders', delayed: 0, paused: false });
  });

  it('is found without an entry in the directory if it holds messages or is paused', async () => {
    expect((await run('counts', 'never-offered')).code).toBe(0);
    await scene.redis.zrem(`${scene.prefix}:{@queues}:names`, 'mails');
    const { producer } = await scene.startApp({ module: { consume: false } });
    await producer.offer('mails', null, '1h');
    await scene.redis.zrem(`${scene.prefix}:{@queues}:names`, 'mails');
    expect((await run('counts', 'mails')).code).toBe(0);
  });

  it('is found by a user who may not read the directory', async () => {
    const rules = [`~${scene.prefix}:{[^@]*`, '&*', '+@all'];
    await scene.redis.acl('SETUSER', scene.prefix, 'reset', 'on', 'nopass', ...rules);
    try {
      const url = scene.url.replace('redis://', `redis://${scene.prefix}:x@`);
      const { code, problems } = await runInProcess({ url, prefix: scene.prefix }, 'counts', 'orders');
      expect({ code, problems }).toEqual({ code: 0, problems: '' });
    } finally {
      await scene.redis.acl('DELUSER', scene.prefix);
    }
  });
});

describe('--version', () => {
  it('prints the version of the package', async () => {
    const { version } = (await import('../../packages/cli/package.json', { with: { type: 'json' } })).default;
    expect(await run('--version')).toEqual({ code: 0, output: `${version}\n`, problems: '' });
  });
});
