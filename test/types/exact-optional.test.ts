import path from 'node:path';
import { expect, test } from '@jest/globals';
import { diagnose } from '../support/diagnose.js';

test('every option accepts undefined under exactOptionalPropertyTypes', () => {
  const file = path.join(import.meta.dirname, 'exact-optional.types.ts');

  expect(diagnose(file, { compilerOptions: { exactOptionalPropertyTypes: true } })).toEqual([]);
}, 60_000);
