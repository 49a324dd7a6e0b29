import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { codesIn, readPage, ROOT, rowsOf } from './pages.js';

const EVENTS = 'lib/message/delay-queue-events.ts';
const ERRORS = 'lib/message/delay-queue-errors.ts';

const program = ts.createProgram(
  [EVENTS, ERRORS].map((file) => path.join(ROOT, file)),
  {
    strict: true,
    exactOptionalPropertyTypes: true,
  },
);
const checker = program.getTypeChecker();

/** A type that a file exports. */
function exportedType(file: string, name: string): ts.Type {
  const source = program.getSourceFile(path.join(ROOT, file))!;
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(source)!);
  return checker.getDeclaredTypeOfSymbol(symbols.find((symbol) => symbol.name === name)!);
}

const sorted = (names: Iterable<string>) => [...names].sort();

describe('the page about events', () => {
  const events = exportedType(EVENTS, 'DelayQueueEvents').getProperties();
  const fieldsOf = (event: ts.Symbol) => checker.getTypeOfSymbol(event).getProperties();

  test('lists every event and nothing else', async () => {
    const rows = rowsOf(await readPage('docs/events.md'));
    expect(events.length).toBeGreaterThan(20);
    expect(sorted(rows.flatMap(([event = '']) => codesIn(event)))).toEqual(sorted(events.map(({ name }) => name)));
  });

  test('names the fields of each event', async () => {
    const rows = rowsOf(await readPage('docs/events.md'));
    const listed = rows.map(([event = '', , fields = '']) => [codesIn(event)[0], sorted(codesIn(fields))]);
    const emitted = events.map((event) => [event.name, sorted(fieldsOf(event).map(({ name }) => name))]);
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(emitted));
  });

  test('says when each event occurs and what to do about it', async () => {
    const rows = rowsOf(await readPage('docs/events.md'));
    expect(rows.filter(([, when, , todo]) => !when || !todo)).toEqual([]);
  });
});

const codes = (exportedType(ERRORS, 'DelayQueueErrorCode') as ts.UnionType).types.map(
  (code) => (code as ts.StringLiteralType).value,
);

describe('the page about errors', () => {
  test('lists every code and nothing else', async () => {
    const [table = ''] = (await readPage('docs/errors.md')).split('\n## ');
    expect(codes.length).toBeGreaterThan(10);
    expect(sorted(rowsOf(table).flatMap(([code = '']) => codesIn(code)))).toEqual(sorted(codes));
  });
});

test('the comment on the error codes explains every code and nothing else', async () => {
  const source = await readPage(ERRORS);
  const explained = [...source.matchAll(/^ \* - `([A-Z_]+)`: /gm)].map(([, code]) => code!);
  expect(sorted(explained)).toEqual(sorted(codes));
});
