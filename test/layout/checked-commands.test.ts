import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Scene } from '../support/scene.js';

const SOURCES = ['lib', 'packages/redisson/src'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.lua'))
    .map((path) => readFileSync(`${folder}/${path}`, 'utf8')),
);

/** The commands that functions name where they check permissions before they write. */
const CHECKED = new Set(
  SOURCES.flatMap((source) => [...source.matchAll(/Permissions\.check\(([^)]*)/g)]).flatMap(([, commands]) =>
    [...commands!.matchAll(/'([A-Z]+)'/g)].map(([, command]) => command!),
  ),
);

const TABLE = readFileSync('lib/redis/script/lua/modules/permissions.lua', 'utf8');

/** Number of arguments that follow the key where the command is checked. */
const wordsAfterKey = (command: string) => Number(new RegExp(`\\b${command} = (\\d)`).exec(TABLE)?.[1] ?? 1);

type CommandInfo = readonly [name: string, arity: number];

describe('the commands whose permissions functions check', () => {
  const scene = new Scene();

  // Redis 8.6 refuses to check any other number, and Redis 7.0 crashes if there are too few.
  test('are checked with a number of arguments that Redis takes', async () => {
    const infos = (await scene.redis.command('INFO', ...CHECKED)) as unknown as readonly CommandInfo[];
    const refused = infos.filter(([name, arity]) => {
      const count = 2 + wordsAfterKey(name.toUpperCase());
      return arity < 0 ? count < -arity : count !== arity;
    });
    expect(CHECKED.size).toBeGreaterThan(10);
    expect(refused.map(([name]) => name)).toEqual([]);
  });
});
