import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';

const ROOT = path.resolve(import.meta.dirname, '../..');

const manifest = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as { repository: { url: string } };
/** Where the files of the project are on the web. */
const FILES = manifest.repository.url.replace(/^git\+(.*)\.git$/, '$1/blob/main/');

/** What a document's links say, outside of its code. */
async function targetsOf(document: string): Promise<string[]> {
  const text = (await readFile(path.join(ROOT, document), 'utf8')).replace(/^```.*?^```$/gms, '');
  return [...text.matchAll(/(?:\]\(|^\[[^\]]+\]: )([^)#\s]+)/gm)].map(([, target]) => target!);
}

const isRelative = (target: string) => !/^[a-z]+:/.test(target);

/** The files of the project that a document's links lead to. */
async function linksOf(document: string): Promise<string[]> {
  const targets = await targetsOf(document);
  return [
    ...targets.filter(isRelative).map((target) => path.join(path.dirname(document), target)),
    ...targets.filter((target) => target.startsWith(FILES)).map((target) => target.slice(FILES.length)),
  ];
}

describe('the links of the documentation', () => {
  test('lead to files that there are', async () => {
    const names = (await readdir(path.join(ROOT, 'docs'))).filter((name) => name.endsWith('.md'));
    const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...names.map((name) => `docs/${name}`)];
    const broken = await Promise.all(
      documents.map(async (document) => {
        const missing = (await linksOf(document)).filter((target) => !existsSync(path.join(ROOT, target)));
        return missing.map((target) => `${document}: ${target}`);
      }),
    );
    expect(broken.flat()).toEqual([]);
  });

  test('in the README are absolute: on the page of the package registry, too, they lead to the documents', async () => {
    expect((await targetsOf('README.md')).filter(isRelative)).toEqual([]);
    expect(await linksOf('README.md')).toContain('docs/architecture.md');
  });

  test.each(['test/faults', 'test/load'])('to tests: the page on reliability names every one of %s', async (folder) => {
    const links = new Set(await linksOf('docs/reliability.md'));
    const files = (await readdir(path.join(ROOT, folder))).filter((name) => /\.(test|load)\.ts$/.test(name));
    const tests = files.map((name) => `${folder}/${name}`);
    expect(tests.length).toBeGreaterThan(0);
    expect(tests.filter((test) => !links.has(test))).toEqual([]);
  });
});
