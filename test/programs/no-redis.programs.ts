import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Somebody who may install nothing. */
const NOBODY = '--import data:text/javascript,process.getuid=()=>65534';
const hasEngine = existsSync('/var/run/docker.sock');

(hasEngine ? describe.skip : describe)('a run of the tests where no Redis can be started', () => {
  const run = (files: string) => {
    const args = [
      '--experimental-vm-modules',
      'node_modules/jest/bin/jest.js',
      '--config',
      'test/jest.config.js',
      files,
    ];
    const env = { PATH: '', NODE_OPTIONS: NOBODY, NO_COLOR: '1' };
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };

  it('prints once what to install, and stops', () => {
    const { status, output } = run('test/e2e/bootstrap.test.ts');
    expect(output.match(/No Redis server can be started here/g)).toHaveLength(1);
    expect(output).toContain('- install Redis or Valkey');
    expect(output).toContain('npm run test:unit');
    expect(output.split('\n').length).toBeLessThan(25);
    expect(status).toBe(1);
  });

  it('still runs unit tests that need no Redis', () => {
    const { status, output } = run('test/unit/message-id.test.ts');
    expect(output).toContain('1 passed');
    expect(status).toBe(0);
  });
});
