import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';

export const ROOT = path.resolve(import.meta.dirname, '../..');

export const readPage = () => readFile(path.join(ROOT, 'docs/deployment.md'), 'utf8');

/** A file that people copy. */
export const readDeploymentFile = (name: string) => readFile(path.join(ROOT, 'docs/deployment', name), 'utf8');

/** A block of the page, by the name in the mark before it. */
export async function readBlock(name: string): Promise<string> {
  const mark = `<!-- snippet: file ${name} -->`;
  const [, rest] = (await readPage()).split(mark);
  const block = /^\s*```\w+\n(.*?)^```$/ms.exec(rest ?? '')?.[1];
  if (block === undefined) throw new Error(`docs/deployment.md has no file ${name}`);
  return block;
}

/** @throws Error if anything about it is wrong, a key that is there twice for example */
export function parseYaml(text: string): unknown[] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) throw new Error('There is no document.');
  const problems = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  if (problems.length > 0) throw new Error(problems.map(String).join('\n'));
  return documents.map((document) => document.toJS() as unknown);
}

export const readYaml = async (name: string) => parseYaml(await readDeploymentFile(name));
