import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** What stands before a snippet that is not only compiled but run. */
const RUN_MARK = '<!-- snippet: run -->';

interface Snippet {
  readonly name: string;
  readonly source: string;
  readonly run: boolean;
}

async function readSnippets(document: string): Promise<Snippet[]> {
  const text = await readFile(path.join(ROOT, document), 'utf8');
  return [...text.matchAll(/(<!-- snippet: run -->\s*)?^```ts\n(.*?)^```$/gms)].map(([, mark, source], i) => ({
    name: `${document.replace(/\W/g, '-')}-${i + 1}`,
    source: source ?? '',
    run: mark?.trim() === RUN_MARK,
  }));
}

describe('the snippets of the documentation', () => {
  let folder: string;
  let snippets: Snippet[];
  const fileOf = ({ name }: Snippet) => path.join(folder, `${name}.ts`);

  beforeAll(async () => {
    // Inside the project, so that they resolve what a user's file would.
    await mkdir(path.join(ROOT, 'temp'), { recursive: true });
    folder = await mkdtemp(path.join(ROOT, 'temp', 'snippets-'));
    const docs = (await readdir(path.join(ROOT, 'docs'))).filter((name) => name.endsWith('.md'));
    const documents = ['README.md', ...docs.map((name) => `docs/${name}`)];
    snippets = (await Promise.all(documents.map(readSnippets))).flat();
    await Promise.all(snippets.map((snippet) => writeFile(fileOf(snippet), snippet.source)));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('compile', () => {
    const { config } = ts.readConfigFile(path.join(ROOT, 'tsconfig.json'), ts.sys.readFile.bind(ts.sys)) as {
      config: object;
    };
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
    const program = ts.createProgram(snippets.map(fileOf), { ...options, noEmit: true, noUnusedLocals: false });
    const problems = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
      return `${path.basename(file?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
    expect(snippets.length).toBeGreaterThanOrEqual(5);
    expect(problems).toEqual([]);
  }, 60_000);

  it('that is the first message says hello, and its process ends when it is told to', async () => {
    const [first] = snippets.filter(({ run }) => run);
    const args = ['--import', '@swc-node/register/esm-register', fileOf(first!)];
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const greeted = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk: Buffer) => {
          output += chunk.toString();
          if (output.includes('Hello, Ada!')) resolve();
        });
      }
    });
    const exited = once(child, 'exit');
    await Promise.race([greeted, exited]);
    child.kill('SIGTERM');
    expect(output).toContain('Hello, Ada!');
    expect(await exited).toEqual([null, 'SIGTERM']);
  }, 60_000);
});
