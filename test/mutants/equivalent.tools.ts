import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { EQUIVALENT, equivalentOf } from './equivalent.js';
import { mutantsOf, mutatedFiles } from './mutation/mutant.js';

const PROJECT = join(import.meta.dirname, '../..');

test('each entry in the list of equivalent mutants names an existing mutant and a reason', () => {
  const listed = new Set(mutatedFiles(PROJECT).flatMap((file) => mutantsOf(PROJECT, file).map(equivalentOf)));
  expect(EQUIVALENT.filter((entry) => !listed.has(entry))).toEqual([]);
  expect(EQUIVALENT.filter(({ reason }) => reason.length < 20)).toEqual([]);
});
