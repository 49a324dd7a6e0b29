import { expect, test } from '@jest/globals';
import { docPages, proseOf, readPage } from './pages.js';

/** Pages to look things up in. */
const REFERENCE = ['docs/benchmarks.md', 'docs/errors.md', 'docs/events.md', 'docs/options.md', 'docs/proof.md'];
/** A command writes it, of what other pages say: its length is no effort to readers of the guide, and cutting it would hide limits. */
const WRITTEN = 'docs/proof.md';

/** The lines of a table are no words. */
const countWords = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
const proseIn = async (pages: readonly string[]) => {
  const texts = await Promise.all(pages.map(readPage));
  return texts.reduce((words, text) => words + countWords(proseOf(text)), 0);
};

test('the README has at most 1,000 words', async () => {
  expect(await proseIn(['README.md'])).toBeLessThanOrEqual(1000);
});

test('a page has at most 2,000 words including code, unless it is a reference', async () => {
  const pages = (await docPages()).filter((page) => !REFERENCE.includes(page));
  const sizes = await Promise.all(pages.map(async (page) => ({ page, words: countWords(await readPage(page)) })));
  expect(sizes.length).toBeGreaterThan(20);
  expect(sizes.filter(({ words }) => words > 2000)).toEqual([]);
});

test('the user pages have at most 42,500 words in total', async () => {
  const pages = (await docPages()).filter((page) => !page.includes('/internals') && page !== WRITTEN);
  expect(await proseIn(pages)).toBeLessThanOrEqual(42_500);
});

test('CONTRIBUTING.md has at most 700 words', async () => {
  expect(await proseIn(['CONTRIBUTING.md'])).toBeLessThanOrEqual(700);
});
