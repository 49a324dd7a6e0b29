import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { delimiter, dirname } from 'node:path';
import { Application } from './application.js';
import { NodeVersions } from './node-versions.js';
import { PROJECT } from './packed-package.js';
import { runCommand } from './run-command.js';

/** Changesets needs a newer Node.js than the library. */
const NODE = '24';

describe('a dry run of the release', () => {
  let PATH: string | undefined;

  beforeAll(async () => {
    const nodes = await NodeVersions.fetch([NODE]);
    const binary = nodes.binary(NODE);
    PATH = binary && `${dirname(binary)}${delimiter}${process.env.PATH}`;
  });

  afterAll(() => Application.removeAll());

  it('installs the next versions of all packages into one application, which handles a message', async () => {
    if (PATH === undefined) return;
    const output = await runCommand('node', ['release/dry-run.js', '--built'], { cwd: PROJECT, env: { PATH } });
    expect(output).toContain('handled a message\n');
    for (const name of ['', '-board', '-bull-board', '-cli']) {
      expect(output).toMatch(new RegExp(`^nestjs-delay-queue${name} (\\S+) -> (?!\\1$)\\d+\\.\\d+\\.\\d+$`, 'm'));
    }
  });
});
