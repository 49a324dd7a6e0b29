import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { diagnose } from '../support/diagnose.js';

const MARK = '// @ts-expect-error ';

/** The compiler lists the members of a union in the order in which it has met them. */
function inOrder<T extends { message: string }>({ message, ...rest }: T) {
  return {
    ...rest,
    message: message.replace(/(`[^']*`)/, (_, union: string) => union.split(' | ').sort().join(' | ')),
  };
}

test('a compile error names the mistake in its first line', async () => {
  const file = path.join(import.meta.dirname, 'compile-errors.types.ts');
  const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.trim());
  const expected = lines.flatMap((line, i) =>
    line.startsWith(MARK) ? [{ code: lines[i + 1], message: line.slice(MARK.length) }] : [],
  );

  const found = diagnose(file, { edit: (source) => source.replaceAll(MARK, '// ') });

  const firstLines = found.map(({ line, message }) => ({ code: lines[line - 1], message: message.split('\n')[0]! }));
  expect(expected.length).toBeGreaterThan(10);
  expect(firstLines.map(inOrder)).toEqual(expected.map(inOrder));
}, 60_000);

test('a batch handler that takes a single message gets an error that tells it to take arrays', () => {
  const file = path.join(import.meta.dirname, 'compile-errors.types.ts');

  const found = diagnose(file, { edit: (source) => source.replaceAll(MARK, '// ') });

  const rule = 'with batch, the handler must accept an array of payloads and one of messages';
  const reported = found.filter(({ message }) =>
    message.split('\n').at(-1)!.includes(`Property '"${rule}"' is missing`),
  );
  expect(reported).toHaveLength(2);
}, 60_000);

test('every option accepts undefined under exactOptionalPropertyTypes', () => {
  const file = path.join(import.meta.dirname, 'exact-optional.types.ts');

  expect(diagnose(file, { compilerOptions: { exactOptionalPropertyTypes: true } })).toEqual([]);
}, 60_000);
