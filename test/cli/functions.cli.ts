import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { ownLibrary, RedisLibrary } from '../../lib/redis/script/redis-library.js';
import { nativeLibrary } from '../../lib/store/native/native-library.js';
import { redissonLibrary } from '../../packages/redisson/src/redisson-library.js';
import { jsonLines, runCommand } from '../support/command-line.js';
import { randomName } from '../support/random-name.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';

const CURRENT = [nativeLibrary, ownLibrary, redissonLibrary];

/** Returns the library of a version with other code. */
function anotherVersion({ purpose }: { purpose: string }): RedisLibrary {
  const text = `local function run()\n  return '${randomName('version')}'\nend\n\nregister('offer', {}, run)\n`;
  return new RedisLibrary(purpose, [{ read: () => text, modules: [], functions: ['offer'] }]);
}

const OLD = CURRENT.map(anotherVersion);
const OF_OTHER_LAYOUT = anotherVersion({ purpose: 'nestjs-delay-queue: queues with the layout of somebody' });

/** Somebody else's, with names like those of this package. */
const FOREIGN = ['delay_queue_0123456789ab', 'delay_queue_mine', 'mine'].map((name, i) => ({
  name,
  source: `#!lua name=${name}\nredis.register_function('f${i}', function() return 1 end)\n`,
}));

const namesOf = (libraries: readonly { readonly name: string }[]) => libraries.map(({ name }) => name).sort();

let server: TestRedis;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});

beforeEach(async () => {
  await redis.call('FUNCTION', 'FLUSH');
  for (const { source } of [...CURRENT, ...OLD, OF_OTHER_LAYOUT, ...FOREIGN])
    await redis.call('FUNCTION', 'LOAD', source);
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const run = (...words: string[]) => runCommand({ url: server.url, prefix: randomName('test') }, ...words);
const left = async () => ((await redis.call('FUNCTION', 'LIST')) as string[][]).map(([, name]) => name!).sort();

describe('delete-functions', () => {
  it('deletes the libraries of other versions and nothing else', async () => {
    const { code, output, problems } = await run('delete-functions', '--yes');
    expect({ code, problems }).toEqual({ code: 0, problems: '' });
    expect(output).toBe(`Deleted: ${namesOf(OLD).join(', ')}.\n`);
    expect(await left()).toEqual(namesOf([...CURRENT, OF_OTHER_LAYOUT, ...FOREIGN]));
    expect((await run('delete-functions', '--yes')).output).toBe(
      'Deleted: nothing, because there are none of other versions.\n',
    );
  });

  it('deletes the named libraries, even those of this version', async () => {
    const named = [nativeLibrary, OF_OTHER_LAYOUT, OLD[0]!];
    const { output } = await run('delete-functions', ...namesOf(named), '--yes', '--json');
    expect(jsonLines(output)).toEqual([{ deleted: namesOf(named) }]);
    expect(await left()).toEqual(namesOf([ownLibrary, redissonLibrary, OLD[1]!, OLD[2]!, ...FOREIGN]));
  });

  it.each(FOREIGN)(
    'deletes nothing if the named libraries include $name, which belongs to another package',
    async ({ name }) => {
      const before = await left();
      expect(await run('delete-functions', OLD[0]!.name, name, '--yes')).toEqual({
        code: 1,
        output: '',
        problems: `Redis has no library of delay queues called ${name}. Nothing was changed.\n`,
      });
      expect(await left()).toEqual(before);
    },
  );

  it('deletes nothing without --yes if there is no terminal to confirm on', async () => {
    const before = await left();
    expect(await run('delete-functions')).toMatchObject({ code: 1, problems: expect.stringContaining('add --yes') });
    expect(await left()).toEqual(before);
  });

  it('needs only the documented permissions', async () => {
    const rules = '+info +client|setname +time +function|list +function|delete'.split(' ');
    await redis.call('ACL', 'SETUSER', 'cleaner', 'reset', 'on', '>secret', '-@all', ...rules);
    const url = server.url.replace('redis://', 'redis://cleaner:secret@');
    const { output, problems } = await run('delete-functions', '--yes', '--url', url);
    expect({ output, problems }).toEqual({ output: `Deleted: ${namesOf(OLD).join(', ')}.\n`, problems: '' });
  });
});

describe('the doctor', () => {
  it('lists the libraries that delete-functions would delete, and those of another layout', async () => {
    const { output } = await run('doctor', '--json');
    const findings = jsonLines(output) as Record<'check' | 'verdict' | 'found' | 'advice', string>[];
    const { verdict, found, advice } = findings.find(({ check }) => check === 'libraries')!;
    expect(verdict).toBe('ok');
    expect(found.match(/delay_queue_\w+/g)).toEqual(namesOf([...OLD, OF_OTHER_LAYOUT]));
    expect(found).toContain(`${OF_OTHER_LAYOUT.name} (${OF_OTHER_LAYOUT.purpose})`);
    expect(advice).toContain('delete-functions');
  });

  it('does not mention libraries if there are none of other versions', async () => {
    await run('delete-functions', OF_OTHER_LAYOUT.name, ...namesOf(OLD), '--yes');
    expect((await run('doctor')).output).not.toContain('libraries');
  });

  it('says that its user may not list libraries', async () => {
    await redis.call('ACL', 'SETUSER', 'blind', 'reset', 'on', '>secret', '~*', '&*', '+@all', '-function|list');
    const { code, output } = await run('doctor', '--url', server.url.replace('redis://', 'redis://blind:secret@'));
    expect(code).toBe(0);
    expect(output).toMatch(/^ok {4}libraries {4}not listed: the Redis user lacks \+function\|list$/m);
  });
});
