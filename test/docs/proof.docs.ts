import { describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { type ProofRecord, RECORDS } from '../../release/proof-record.js';
import { pageOf, PROOFS, type Proven } from '../../release/proofs.js';
import { wholeScript } from '../support/jest/record-run.js';
import { ENVIRONMENT } from '../support/run-program.js';
import { readPage, ROOT } from './pages.js';

const { scripts } = JSON.parse(await readPage('package.json')) as { scripts: Record<string, string> };

describe('the page of proofs', () => {
  const record: ProofRecord = {
    command: 'npm run fuzz -- --inputs 1000000 --seed 1',
    ...{ commit: 'abc', date: '2026-01-02T03:04:05.678Z', passed: true, figures: { inputs: 1_000_000, server: '7' } },
  };
  const rowIn = async (proven: Proven) =>
    (await pageOf(proven)).split('\n').find((line) => line.includes(record.command)) ?? '';

  test('is what npm run proof writes from its records', async () => {
    const proven = JSON.parse(await readPage('release/proof.json')) as Proven;
    expect(await readPage('docs/proof.md')).toBe(await pageOf(proven));
  });

  test('shows the figures of a record, its day and its commit', async () => {
    const row = await rowIn({ commit: 'abc', records: [record] });
    expect(row).toMatch(/\| 1,000,000 inputs; server: 7 +\| 2026-01-02, `abc` +\|$/);
  });

  test.each([
    ['was not run', { commit: 'abc', records: [] }, '**not run**'],
    ['ran on another commit', { commit: 'def', records: [record] }, '**another commit**, `abc`'],
    [
      'ran on changes that nobody committed',
      { commit: 'abc-dirty', records: [{ ...record, commit: 'abc-dirty' }] },
      '**another commit**, `abc-dirty`',
    ],
    ['failed', { commit: 'abc', records: [{ ...record, passed: false }] }, '**failed**: 1,000,000 inputs'],
  ])('says so if a command %s', async (_what, proven, words) => {
    expect(await rowIn(proven)).toContain(words);
  });

  test('lists the limits that pages mark, with links to them', async () => {
    const page = await pageOf({ commit: 'abc', records: [] });
    expect(page).toMatch(/\]\(reliability\.md#what-is-not-promised\)\n {2}- \*\*Exactly once\.\*\*/);
    expect(page).toMatch(
      /\]\(\.\.\/packages\/redisson\/README\.md#how-this-layout-differs\)\n {2}- \*\*headers\*\*: ref/,
    );
    expect(page).toMatch(/\]\(scaling\.md#shrinking\)\n {2}- The number can fall only/);
  });
});

describe('a record', () => {
  const run = promisify(execFile);

  test('is left by a command, with its arguments and the figures that it prints', async () => {
    const file = path.join(RECORDS, 'fuzz-inputs-20-seed-7.json');
    await rm(file, { force: true });
    const args = ['run', '--silent', 'fuzz', '--', '--inputs', '20', '--seed', '7'];
    const { stdout } = await run('npm', args, { cwd: ROOT, env: ENVIRONMENT });
    expect(stdout).toMatch(/^20 inputs in .*, 0 broke a rule$/m);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      command: 'npm run fuzz -- --inputs 20 --seed 7',
      commit: expect.stringMatching(/^[0-9a-f]{8,}(-dirty)?$/),
      date: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      passed: true,
      figures: { inputs: 20, 'broke a rule': 0 },
    });
    await rm(file);
  }, 120_000);

  const [, ...preset] = scripts.test!.split('jest.js')[1]!.split(' ');
  const suites = PROOFS.flatMap(({ command }) => /^npm (?:run )?(test\S*)$/.exec(command)?.slice(1) ?? []).filter(
    (script) => script !== 'test:versions',
  );

  test.each(suites)('is left by jest for all of %s, and not for a part of it', (script) => {
    const [, added = ''] = scripts[script]!.split('npm test -- ');
    const args = [...preset, ...added.replaceAll("'", '').split(' ').filter(Boolean)];
    expect(wholeScript(args, scripts)).toBe(script);
    expect(wholeScript([...args, 'redis-down'], scripts)).toBeUndefined();
  });
});

test('each change is simulated as the page of proofs shows', async () => {
  const run = await readPage('.ci/run');
  const simulated = PROOFS.map(({ command }) => command).filter((command) => command.includes('simulate --'));
  expect(simulated).toHaveLength(2);
  for (const command of simulated) expect(run).toContain(`step ${command}\n`);
});
