import { describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { docPages, readPage, ROOT } from './pages.js';

const run = promisify(execFile);

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'test/simulation/README.md',
  'test/soak/README.md',
  ...(await docPages()),
];

/** A script of this project, as a page names it, with the words that follow it. */
interface Command {
  readonly page: string;
  readonly script: string;
  readonly words: string;
}

async function commandsOn(page: string): Promise<Command[]> {
  const found = (await readPage(page)).matchAll(/\bnpm (?:run ([\w:-]+)|(test))(?: -- ([^`\n#;|]*))?/g);
  return [...found].map(([, named, preset, words = '']) => ({ page, script: (named ?? preset)!, words }));
}

const commands = (await Promise.all(PAGES.map(commandsOn))).flat();

/** The commands that run some of the suites. */
const selections = commands.filter(({ script, words }) => /^test(:|$)/.test(script) && /^[\w./-]+ *$/.test(words));

test('the pages name only npm scripts that exist', async () => {
  const { scripts } = JSON.parse(await readPage('package.json')) as { scripts: Record<string, string> };
  expect(commands.filter(({ script }) => !(script in scripts))).toEqual([]);
});

describe('documented commands that run some of the tests', () => {
  const unique = new Map(selections.map((each) => [`npm run ${each.script} -- ${each.words.trim()}`, each]));

  test('are found on the pages', () => {
    expect(unique.size).toBeGreaterThan(4);
  });

  test.each([...unique])('match at least one test file: %s', async (_command, { script, words }) => {
    const args = ['run', '--silent', script, '--', ...words.trim().split(' '), '--listTests'];
    const { stdout } = await run('npm', args, { cwd: ROOT });
    expect(stdout).toMatch(/\/test\/\S+\.ts$/m);
  });
});
