import { expect, test } from '@jest/globals';
import { docPages, proseOf, readPage } from './pages.js';

/** Pages to look things up in. */
const REFERENCE = ['docs/benchmarks.md', 'docs/errors.md', 'docs/events.md', 'docs/options.md'];

const wordsOf = async (page: string) =>
  proseOf(await readPage(page))
    .split(/\s+/)
    .filter(Boolean).length;

test('the README has at most 1,200 words, which a developer reads in three minutes', async () => {
  expect(await wordsOf('README.md')).toBeLessThanOrEqual(1200);
});

test('a page of the documentation has at most 2,000 words, unless it is to look things up in', async () => {
  const pages = (await docPages()).filter((page) => !REFERENCE.includes(page));
  const sizes = await Promise.all(pages.map(async (page) => ({ page, words: await wordsOf(page) })));
  expect(sizes.length).toBeGreaterThan(20);
  expect(sizes.filter(({ words }) => words > 2000)).toEqual([]);
});
