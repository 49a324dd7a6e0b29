import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** What the package registry shows. */
const READMES = ['README.md', 'packages/bull-board/README.md', 'packages/cli/README.md'];

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
    const documents = [...READMES, 'CONTRIBUTING.md', 'CHANGELOG.md', ...names.map((name) => `docs/${name}`)];
    const broken = await Promise.all(
      documents.map(async (document) => {
        const missing = (await linksOf(document)).filter((target) => !existsSync(path.join(ROOT, target)));
        return missing.map((target) => `${document}: ${target}`);
      }),
    );
    expect(broken.flat()).toEqual([]);
  });

  test('in the READMEs are absolute, so that they also work on the page of the package registry', async () => {
    const targets = await Promise.all(READMES.map(targetsOf));
    expect(targets.flat().filter(isRelative)).toEqual([]);
    expect(await linksOf('README.md')).toContain('docs/architecture.md');
    expect(await linksOf('packages/bull-board/README.md')).toContain('docs/handlers.md');
    expect(await linksOf('packages/cli/README.md')).toContain('docs/command-line.md');
  });

  test.each(['test/faults', 'test/load'])('on the reliability page include every test in %s', async (folder) => {
    const links = new Set(await linksOf('docs/reliability.md'));
    const files = (await readdir(path.join(ROOT, folder))).filter((name) => /\.(test|load)\.ts$/.test(name));
    const tests = files.map((name) => `${folder}/${name}`);
    expect(tests.length).toBeGreaterThan(0);
    expect(tests.filter((test) => !links.has(test))).toEqual([]);
  });
});
