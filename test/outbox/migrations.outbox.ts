import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTableSql, type Dialect, upgradeTableSql } from '../../packages/outbox/src/index.js';
import { argumentsFor, ENVIRONMENT } from '../support/run-program.js';

const DIALECTS = ['postgresql', 'mysql', 'sqlite'] as const;
const MAIN = new URL('../../packages/outbox/src/main.ts', import.meta.url);

async function print(...words: readonly string[]): Promise<{ code: number; output: string; problems: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [...argumentsFor(MAIN), ...words], {
      env: ENVIRONMENT,
    });
    return { code: 0, output: stdout, problems: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout, problems: stderr };
  }
}

describe('the SQL of the outbox table', () => {
  it.each(DIALECTS)('ships as a file in the package for %s', async (dialect) => {
    const file = (name: string) =>
      fileURLToPath(new URL(`../../packages/outbox/migrations/${name}.sql`, import.meta.url));
    expect(await readFile(file(dialect), 'utf8')).toBe(createTableSql(dialect));
    expect(await readFile(file(`${dialect}-upgrade`), 'utf8')).toBe(upgradeTableSql(dialect));
  });

  it.each(DIALECTS)("is printed by the package's command, for %s", async (dialect) => {
    expect(await print('migration', dialect)).toEqual({ code: 0, output: createTableSql(dialect), problems: '' });
    expect(await print('upgrade', dialect)).toEqual({ code: 0, output: upgradeTableSql(dialect), problems: '' });
    const named = await print('migration', dialect, '--table', 'app.outbox');
    expect(named.output).toMatch(/^CREATE TABLE (["`])app\1\.\1outbox\1 \(/);
  });

  it.each([
    [['migration', 'oracle'], /dialect: must be postgresql, mysql, sqlite, not 'oracle'/],
    [['migration', 'sqlite', '--table', 'x"; DROP TABLE users'], /table: must be a name/],
    [['migrate'], /Give a command, migration or upgrade/],
    [['migration', 'sqlite', '--tabel', 'x'], /--tabel/],
  ])('is not printed for the arguments %j', async (words, problem) => {
    const printed = await print(...words);
    expect(printed).toMatchObject({ code: 2, output: '' });
    expect(printed.problems).toMatch(problem);
  });

  it('is refused for names that quoting alone cannot make safe', () => {
    for (const table of ['', '1st', 'a.b.c', 'a b', 'ä', 'x'.repeat(49), null, {}]) {
      expect(() => createTableSql('sqlite', table as string)).toThrow(/^OutboxModule: table: must be a name/);
    }
    expect(() => createTableSql('toString' as Dialect)).toThrow(/dialect: must be/);
  });
});
