import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The files that a document's links lead to, outside of its code. */
async function linksOf(document: string): Promise<string[]> {
  const text = (await readFile(path.join(ROOT, document), 'utf8')).replace(/^```.*?^```$/gms, '');
  const targets = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target]) => target!);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => path.join(path.dirname(document), target));
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

  test.each(['test/faults', 'test/load'])('to tests: the page on reliability names every one of %s', async (folder) => {
    const links = new Set(await linksOf('docs/reliability.md'));
    const files = (await readdir(path.join(ROOT, folder))).filter((name) => /\.(test|load)\.ts$/.test(name));
    const tests = files.map((name) => `${folder}/${name}`);
    expect(tests.length).toBeGreaterThan(0);
    expect(tests.filter((test) => !links.has(test))).toEqual([]);
  });
});
