import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  anchorsOf,
  BOARD_README,
  PAGE_README,
  CLI_README,
  docPages,
  OUTBOX_README,
  readPage,
  REDISSON_README,
  ROOT,
} from './pages.js';

/** The documents that the package registry shows. */
const READMES = ['README.md', PAGE_README, BOARD_README, CLI_README, OUTBOX_README, REDISSON_README];

const manifest = JSON.parse(await readPage('package.json')) as { repository: { url: string } };
/** The project's files on the web. */
const FILES = manifest.repository.url.replace(/^git\+(.*)\.git$/, '$1/blob/main/');

const SAMPLE_PAGE = 'sample-app/public/index.html';

/** A link to a file of the project. */
interface Link {
  readonly file: string;
  readonly anchor?: string | undefined;
}

/** The targets of a document's links, outside its code. */
async function targetsOf(document: string): Promise<string[]> {
  const text = (await readPage(document)).replace(/^```.*?^```$/gms, '');
  return [...text.matchAll(/(?:\]\(|^\[[^\]]+\]: |href=")([^)"\s]+)/gm)].map(([, target]) => target!);
}

const isRelative = (target: string) => !/^[a-z]+:/.test(target);

/** The project's files that a document links to. */
async function linksOf(document: string): Promise<Link[]> {
  const targets = await targetsOf(document);
  const own = document.endsWith('.html') ? [] : targets.filter(isRelative);
  const links = [
    ...own.map((target) => (target.startsWith('#') ? document + target : path.join(path.dirname(document), target))),
    ...targets.filter((target) => target.startsWith(FILES)).map((target) => target.slice(FILES.length)),
  ];
  return links.map((link) => {
    const [file = '', anchor] = link.split('#');
    return { file, anchor };
  });
}

const filesOf = async (document: string) => (await linksOf(document)).map(({ file }) => file);

/** Returns the reason why a link is broken, if it is. */
async function faultOf({ file, anchor }: Link): Promise<string | undefined> {
  if (!existsSync(path.join(ROOT, file))) return `no file ${file}`;
  if (anchor === undefined || !file.endsWith('.md')) return undefined;
  return anchorsOf(await readPage(file)).has(anchor) ? undefined : `no heading ${file}#${anchor}`;
}

async function faultsOf(document: string): Promise<string[]> {
  const faults = await Promise.all((await linksOf(document)).map(faultOf));
  return faults.filter((fault) => fault !== undefined).map((fault) => `${document}: ${fault}`);
}

/** The sources in a folder. */
async function sourcesIn(folder: string): Promise<string[]> {
  const names = await readdir(path.join(ROOT, folder), { recursive: true });
  return names
    .filter((name) => /\.(ts|js|lua)$/.test(name) && !/node_modules|dist/.test(name))
    .map((name) => `${folder}/${name}`);
}

describe('the links in the documentation', () => {
  test('lead to files and headings that exist', async () => {
    const notes = [
      'CONTRIBUTING.md',
      'CHANGELOG.md',
      'SECURITY.md',
      'CODE_OF_CONDUCT.md',
      'test/simulation/README.md',
      'test/soak/README.md',
      SAMPLE_PAGE,
    ];
    const documents = [...READMES, ...notes, ...(await docPages())];
    expect((await Promise.all(documents.map(faultsOf))).flat()).toEqual([]);
  });

  test('are absolute if they lead from a README to another file, so that they work in the package registry', async () => {
    const targets = await Promise.all(READMES.map(targetsOf));
    expect(targets.flat().filter((target) => isRelative(target) && !target.startsWith('#'))).toEqual([]);
    expect(await filesOf('README.md')).toContain('docs/README.md');
    expect(await filesOf(BOARD_README)).toContain('docs/typed-queues.md');
    expect(await filesOf(CLI_README)).toContain('docs/command-line.md');
  });

  test('lead from the index to every page', async () => {
    const linked = new Set(await filesOf('docs/README.md'));
    expect((await docPages()).filter((page) => page !== 'docs/README.md' && !linked.has(page))).toEqual([]);
  });

  test.each(['test/faults', 'test/hostile', 'test/load'])(
    'lead from the pages about faults to every test in %s',
    async (folder) => {
      const pages = await Promise.all(['docs/faults.md', 'docs/redis-faults.md', 'test/soak/README.md'].map(filesOf));
      const links = new Set(pages.flat());
      const files = (await readdir(path.join(ROOT, folder))).filter((name) =>
        /\.(faults|hostile|load)\.ts$/.test(name),
      );
      const tests = files.map((name) => `${folder}/${name}`);
      expect(tests.length).toBeGreaterThan(0);
      expect(tests.filter((test) => !links.has(test))).toEqual([]);
    },
  );
});

test.each(['lib', 'sample-app', 'packages'])('the pages named by comments and messages in %s exist', async (folder) => {
  const sources = await sourcesIn(folder);
  const named = await Promise.all(
    sources.map(async (source) => {
      const text = await readFile(path.join(ROOT, source), 'utf8');
      return (text.match(/\bdocs\/[\w/-]+\.(?:md|java)/g) ?? []).map((page) => ({ source, page }));
    }),
  );
  expect(sources.length).toBeGreaterThan(0);
  expect(named.flat().filter(({ page }) => !existsSync(path.join(ROOT, page)))).toEqual([]);
});
