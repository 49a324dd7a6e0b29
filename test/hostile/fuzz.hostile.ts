import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { ENVIRONMENT, TYPESCRIPT } from '../support/run-program.js';

test('mutated and random bytes are read as values or refused by the documented error', async () => {
  const main = new URL('../fuzz/main.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [...TYPESCRIPT, main, '--inputs', '200000'], {
    env: ENVIRONMENT,
  }).catch((error: { stdout: string }) => error);
  // It prints the seed, and each input that breaks a rule.
  expect(stdout).toMatch(/^seed \d+\n200000 inputs in .* 0 broke a rule\n$/);
});
