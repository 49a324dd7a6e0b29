import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { proseOf, readPage, ROOT } from './pages.js';

const FILES = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
const DOCUMENTS = FILES.filter((file) =>
  /^(README|CONTRIBUTING|(docs\/(?!api-report)|packages\/[^/]+\/(docs|README|test)|test\/).*)\.md$/.test(file),
);

/** The files and folders of the project, and the files without their extensions. */
const PATHS = new Set(FILES.flatMap((file) => [...foldersOf(file), file, file.replace(/\.\w+$/, '')]));
const TOP_FOLDERS = new Set(FILES.filter((file) => file.includes('/')).map((file) => file.split('/')[0]));
const LIB_FOLDERS = new Set(FILES.filter((file) => /^lib\/.*\//.test(file)).map((file) => file.split('/')[1]));

/** Written by the build, by tests or by npm. */
const NOT_IN_GIT = /^(dist|temp|docs\/api)(\/|$)|(^|\/)node_modules$/;

function foldersOf(file: string): string[] {
  return [...file.matchAll(/\//g)].map(({ index }) => file.slice(0, index));
}

/** The paths in a text's code spans. Those in `src` are files of applications. */
function pathsIn(text: string): string[] {
  const spans = [...proseOf(text).matchAll(/`([\w.][\w.-]*(?:\/[\w.-]+)*)\/?`/g)].map(([, span]) => span!);
  return spans.filter((span) => {
    const [first = '', ...rest] = span.split('/');
    const isFolder = rest.length > 0 && (TOP_FOLDERS.has(first) || LIB_FOLDERS.has(first));
    return (isFolder || /\.(ts|lua)$/.test(span)) && !/^(src|\.)\//.test(span) && !NOT_IN_GIT.test(span);
  });
}

/** True for a whole path, and for the end of one unless it starts with a folder of the project. */
function exists(path: string): boolean {
  const isWhole = TOP_FOLDERS.has(path.split('/')[0]) && path.includes('/');
  return PATHS.has(path) || (!isWhole && [...PATHS].some((other) => other.endsWith(`/${path}`)));
}

const missingIn = (text: string) => pathsIn(text).filter((path) => !exists(path));

test.each([
  'lib/redis/no-such-file.ts',
  'test/no-such-folder',
  'no-such-file.ts',
  'redis/no-such-file.ts',
  'lib/offers.ts',
])('the check of paths reports that %s is missing', (path) => {
  expect(missingIn(`It is in \`${path}\`.`)).toEqual([path]);
});

test.each([
  'lib/consumer',
  'store/router.ts',
  'message/codec',
  'capacity.ts',
  'src/app.module.ts',
  'nestjs-delay-queue/otel',
])('the check of paths accepts %s', (path) => {
  expect(missingIn(`It is in \`${path}\`.`)).toEqual([]);
});

test("the paths in the documents' code spans exist", async () => {
  const found = await Promise.all(
    DOCUMENTS.map(async (document) => missingIn(await readPage(document)).map((path) => `${document}: ${path}`)),
  );
  expect(DOCUMENTS.length).toBeGreaterThan(50);
  expect(found.flat()).toEqual([]);
});
