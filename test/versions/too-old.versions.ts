import { describe, expect, test } from '@jest/globals';
import { ownFunctions } from '../../lib/redis/script/redis-library.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';

/** Run with Redis 6.0, whose scripts can neither declare flags nor ask about permissions. */
describe('a Redis that is too old', () => {
  const scene = new Scene({});
  const start = (connection: string) =>
    scene.startApp({ module: { connection }, providers: [handlerOf(scene.newQueue(), () => undefined)] });

  test('makes startup fail with an error that names its version', async () => {
    await expect(start(scene.url)).rejects.toMatchObject({
      code: 'UNSUPPORTED_SERVER',
      message: expect.stringMatching(/Redis 6\.\S+ is too old: use Redis 7.0 or newer/),
    });
  });

  test('makes startup fail in the same way if its user may not read the version', async () => {
    await scene.redis.call('ACL', 'SETUSER', 'uninformed', 'on', '>secret', '~*', '+@all', '-info');
    await expect(start(scene.url.replace('redis://', 'redis://uninformed:secret@'))).rejects.toMatchObject({
      code: 'UNSUPPORTED_SERVER',
      message: expect.stringMatching(/Error compiling script.*use Redis 7.0 or newer/),
    });
  });

  test('is distinguished from a server that refuses every command', async () => {
    // Others that are compatible with Redis accept the first line, which declares flags.
    const { source } = ownFunctions.checkPermissions.scripts[0]!;
    const code = source.replace(/^#!.*\n/, '');
    await expect(scene.redis.eval(code, 0, 'GET', 'key')).rejects.toThrow(/NOACLCHECK/);
  });
});
