import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { builtinModules } from 'node:module';
import { promisify } from 'node:util';
import { NodeVersions } from '../smoke/node-versions.js';
import { ENVIRONMENT } from '../support/run-program.js';
import { describeOutbox } from './outbox.rules.js';

/** The first Node.js that has `node:sqlite`. */
const NODE = '24';

const none = () => Promise.resolve({ url: '', stop: () => Promise.resolve() });

if (builtinModules.includes('node:sqlite')) {
  describe('SQLite through node:sqlite:', () => {
    describeOutbox('node-sqlite', none);
  });
} else {
  describe('SQLite through node:sqlite', () => {
    it(`passes the same tests in Node.js ${NODE}, because this version lacks node:sqlite`, async () => {
      const node = (await NodeVersions.fetch([NODE])).binary(NODE);
      if (node === undefined) return;
      const config = [
        '--config',
        'test/jest.config.js',
        '--runInBand',
        '--testMatch',
        '<rootDir>/test/outbox/sqlite.outbox.ts',
      ];
      const args = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', ...config];
      const { stderr } = await promisify(execFile)(node, args, { env: ENVIRONMENT, timeout: 180_000 });
      expect(stderr).toMatch(/^Tests: +\d{2} passed/m);
    });
  });
}
