import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from './pages.js';

/** Words that are gone, and spellings that are not ours, with what to say instead. They also count in names: `laneOf`, `LANE_KEYS`. */
const GONE: readonly (readonly [words: RegExp, instead: string])[] = [
  [/doorbells?|bells?|nudg(e|es|ed|ing)/, 'wake-up signal'],
  [/lanes?/, 'group'],
  [/tellers?/, 'announcer'],
  [/(claim|take|taken)s? along/, 'transfer and claim'],
  [/loans?|lends?|lent|lending/, 'reservation, reserve'],
  [/admissions?/, 'claim limit'],
  [/(codec|create) doubts?/, 'codec mismatch'],
  [/unfit/, 'unsupported'],
  [/substitutes?/, 'test overrides'],
  [/again in vain/, '`again()` not returned'],
  [/intakes?|upkeep/, 'ProducerStore, AdminStore'],
  [/restless/, 'unstable'],
  [/hurry|hurries|hurried/, 'flush, failFast'],
  [/may matter/, 'needs…'],
  [/roofs?/, 'entry point'],
  [/(most|longest|shortest|smallest)_[a-z_]+/, 'MAX_…, MIN_…'],
  [/behaviors?/, 'behaviour'],
  [/cancel(ed|ing)/, 'cancelled, cancelling'],
  [/(recogn|organ|initial|serial|normal|optim|summar|util|sanit|priorit)is(e|es|ed|ing|ation)/, '-ize'],
  [/wakeups?/, 'wake-up'],
  [/time-outs?/, 'timeout'],
  [/bur(y|ies|ied)/, 'dead-lettered'],
  [/(gives?|given|gave|giving)[ _]back/, 'release, return'],
  [/sets?[ _]aside/, 'put off, parked'],
  [/(the|a) floors?/, 'baseline'],
  [/(takes?|took|taking) turns/, 'round-robin, alternate'],
  [/start-ups?/, 'startup'],
  [/clock of Redis/, "Redis' clock"],
  [/(re|de)queue[sd]?/, 'release, claim'],
];

/** Text that may contain an old word. */
const KEYS_IN_REDIS = /\blane:[a-z*]*|'lanes'/g;
const FILES_APART = [
  // Texts from the past, by us or by others.
  /(^|\/)CHANGELOG\.md$/,
  /(^|\/)package-lock\.json$/,
  // These words themselves.
  /^test\/docs\/words\.docs\.ts$/,
];

const RULES = GONE.map(
  ([words, instead]) => [new RegExp(`(?<![a-z])(?:${words.source})(?![a-z])`, 'i'), instead] as const,
);

/** The old words in the name and the lines of a file, as `file:line: "word": say "instead"`. */
function oldWordsIn(file: string, text: string): string[] {
  return [file, ...text.split('\n')].flatMap((line, at) => {
    const words = line.replace(KEYS_IN_REDIS, '').replace(/([a-z0-9])([A-Z])/g, '$1 $2');
    return RULES.flatMap(([rule, instead]) => {
      const found = rule.exec(words)?.[0];
      return found === undefined ? [] : [`${file}:${at}: "${found}": say "${instead}"`];
    });
  });
}

test.each([
  ['// The doorbell of a queue.', 'doorbell'],
  ['const MOST_CLAIMS = 5;', 'MOST_CLAIMS'],
  ['function laneOf(id) {', 'lane'],
  ["it('ends a claim along with a transfer', () => {", 'claim along'],
])('the check of words finds an outdated term: %s', (line, word) => {
  expect(oldWordsIn('lib/a.ts', line)).toEqual([expect.stringContaining(`lib/a.ts:1: "${word}": say`)]);
});

test.each(['delay-queue:{orders}:lane:delayed', 'the utmost care', 'planes', 'it rebelled'])(
  'the check of words accepts %s',
  (line) => {
    expect(oldWordsIn('lib/a.ts', line)).toEqual([]);
  },
);

test('code, comments, documentation and test names use the terms of the glossary', async () => {
  const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  const ours = files.filter((file) => /\.(tsx?|js|mjs|cjs|lua|md|json|ya?ml|css|html|java|patch)$/.test(file));
  const read = ours.filter((file) => !FILES_APART.some((apart) => apart.test(file)));
  const found = await Promise.all(
    read.map(async (file) => oldWordsIn(file, await readFile(path.join(ROOT, file), 'utf8'))),
  );
  expect(read.length).toBeGreaterThan(1000);
  expect(found.flat()).toEqual([]);
});
