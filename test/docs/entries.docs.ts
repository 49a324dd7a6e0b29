import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ROOT } from './pages.js';

const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>;

/** The folders of the library with an `index.ts`. */
const entries = readdirSync(path.join(ROOT, 'lib')).filter((folder) =>
  existsSync(path.join(ROOT, 'lib', folder, 'index.ts')),
);

function builtFiles(folder: string): object {
  return { types: `./dist/lib/${folder}/index.d.ts`, default: `./dist/lib/${folder}/index.js` };
}

describe('the entry points of the package', () => {
  test('are exported as ES modules and as CommonJS, with nothing else but package.json', () => {
    const exported = entries.map((entry): [string, object] => [
      `./${entry}`,
      { import: builtFiles(`esm/${entry}`), require: builtFiles(`cjs/${entry}`) },
    ]);
    expect(manifest.exports).toEqual({
      '.': { import: builtFiles('esm'), require: builtFiles('cjs') },
      ...Object.fromEntries(exported),
      './package.json': './package.json',
    });
  });

  test('have types for compilers that do not read exports', () => {
    const types = entries.map((entry): [string, string[]] => [entry, [`./dist/lib/cjs/${entry}/index.d.ts`]]);
    expect(manifest.typesVersions).toEqual({ '*': Object.fromEntries(types) });
  });

  test('have API reports', () => {
    const reports = readdirSync(path.join(ROOT, 'docs/api-report')).filter((file) =>
      file.endsWith('.api-extractor.json'),
    );
    expect(reports.sort()).toEqual(entries.map((entry) => `${entry}.api-extractor.json`).sort());
  });
});
