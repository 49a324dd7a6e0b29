import { expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(import.meta.dirname, '../..');
const LIBRARIES = join(ROOT, 'test', 'outbox', 'libraries');
const SNIPPET = /(?:<!-- snippet: file (\S+) -->\s*)?^```ts\n(.*?)^```$/gms;

/** What TypeScript finds wrong with files, each of which is checked with the libraries that the outbox supports. */
function problemsOf(files: readonly string[]): string[] {
  const { config } = ts.readConfigFile(join(LIBRARIES, 'tsconfig.json'), ts.sys.readFile.bind(ts.sys)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, LIBRARIES);
  const program = ts.createProgram([...files], { ...options, noEmit: true });
  const found = files.flatMap((file) => [...ts.getPreEmitDiagnostics(program, program.getSourceFile(file))]);
  return found.map(
    ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
  );
}

test("the README's snippets compile with their libraries", async () => {
  const text = await readFile(join(ROOT, 'packages', 'outbox', 'README.md'), 'utf8');
  // The application itself is built and run in test/smoke.
  const snippets = [...text.matchAll(SNIPPET)].filter(([, name]) => name !== 'app.module.ts');
  expect(snippets.length).toBeGreaterThanOrEqual(3);
  const folder = await mkdtemp(join(LIBRARIES, 'snippets-'));
  try {
    const files = snippets.map(([, name], i) => join(folder, name ?? `snippet-${i}.ts`));
    await Promise.all(files.map((file, i) => writeFile(file, snippets[i]![2]!)));
    expect(problemsOf(files)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the function that opens each library compiles with the library's declarations", () => {
  const { config } = ts.readConfigFile(join(LIBRARIES, 'tsconfig.json'), ts.sys.readFile.bind(ts.sys)) as {
    config: object;
  };
  const { fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, LIBRARIES);
  expect(fileNames.length).toBeGreaterThanOrEqual(10);
  expect(problemsOf(fileNames)).toEqual([]);
});

test('the Prisma model in the README is the one that the outbox tests use', async () => {
  const read = (...path: string[]) => readFile(join(ROOT, ...path), 'utf8');
  const [readme, schema] = await Promise.all([
    read('packages', 'outbox', 'README.md'),
    read('test', 'outbox', 'libraries', 'prisma', 'schema.prisma'),
  ]);
  const [, model = ''] = /^```prisma\n(.*?)^```$/ms.exec(readme) ?? [];
  expect(model).not.toBe('');
  expect(schema).toContain(model);
});
