import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';

const ROOT = path.resolve(import.meta.dirname, '../..');

const BOARD_README = 'packages/bull-board/README.md';

const manifest = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as { repository: { url: string } };
/** The project's files on the web. */
const FILES = manifest.repository.url.replace(/^git\+(.*)\.git$/, '$1/blob/main/');

/** The targets of a document's links, outside its code. */
async function targetsOf(document: string): Promise<string[]> {
  const text = (await readFile(path.join(ROOT, document), 'utf8')).replace(/^```.*?^```$/gms, '');
  return [...text.matchAll(/(?:\]\(|^\[[^\]]+\]: )([^)#\s]+)/gm)].map(([, target]) => target!);
}

const isRelative = (target: string) => !/^[a-z]+:/.test(target);

/** The project's files that a document links to. */
async function linksOf(document: string): Promise<string[]> {
  const targets = await targetsOf(document);
  return [
    ...targets.filter(isRelative).map((target) => path.join(path.dirname(document), target)),
    ...targets.filter((target) => target.startsWith(FILES)).map((target) => target.slice(FILES.length)),
  ];
}

describe('the links of the documentation', () => {
  test('lead to files that exist', async () => {
    const names = (await readdir(path.join(ROOT, 'docs'))).filter((name) => name.endsWith('.md'));
    const documents = [
      'README.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
      BOARD_README,
      ...names.map((name) => `docs/${name}`),
    ];
    const broken = await Promise.all(
      documents.map(async (document) => {
        const missing = (await linksOf(document)).filter((target) => !existsSync(path.join(ROOT, target)));
        return missing.map((target) => `${document}: ${target}`);
      }),
    );
    expect(broken.flat()).toEqual([]);
  });

  test('in the READMEs are absolute, so that they also work on the page of the package registry', async () => {
    expect((await targetsOf('README.md')).filter(isRelative)).toEqual([]);
    expect((await targetsOf(BOARD_README)).filter(isRelative)).toEqual([]);
    expect(await linksOf('README.md')).toContain('docs/architecture.md');
    expect(await linksOf(BOARD_README)).toContain('docs/handlers.md');
  });

  test.each(['test/faults', 'test/load'])('on the reliability page include every test in %s', async (folder) => {
    const links = new Set(await linksOf('docs/reliability.md'));
    const files = (await readdir(path.join(ROOT, folder))).filter((name) => /\.(test|load)\.ts$/.test(name));
    const tests = files.map((name) => `${folder}/${name}`);
    expect(tests.length).toBeGreaterThan(0);
    expect(tests.filter((test) => !links.has(test))).toEqual([]);
  });
});
