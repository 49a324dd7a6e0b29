import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { EQUIVALENT, equivalentOf } from './equivalent.js';
import { mutantsOf, mutatedFiles } from './mutation/mutant.js';

const PROJECT = join(import.meta.dirname, '../..');

test('each entry is of a mutant that exists, and says why', () => {
  const listed = new Set(mutatedFiles(PROJECT).flatMap((file) => mutantsOf(PROJECT, file).map(equivalentOf)));
  expect(EQUIVALENT.filter((entry) => !listed.has(entry))).toEqual([]);
  expect(EQUIVALENT.filter(({ reason }) => reason.length < 20)).toEqual([]);
});
