import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { JsonLines } from './json-lines.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lines-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a record replaces an earlier one with the same key, and can be read again even after an interrupted write', () => {
  const file = join(folder, 'new/lines.jsonl');
  const open = () => new JsonLines<{ key: string; value: number }>(file, ({ key }) => key);
  const lines = open();
  lines.put({ key: 'a', value: 1 });
  lines.put({ key: 'b', value: 2 });
  lines.put({ key: 'a', value: 3 });
  appendFileSync(file, '{"key":"b","val');
  for (const each of [lines, open()]) expect([each.get('a')?.value, each.get('b')?.value]).toEqual([3, 2]);
});
