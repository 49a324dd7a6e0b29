import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROJECT } from './packed-package.js';

/**
 * Reads the first snippet of a page with a mark.
 *
 * @param page - its path in the project
 */
export async function readSnippet(page: string, mark: string): Promise<string> {
  const text = await readFile(join(PROJECT, page), 'utf8');
  const [, rest] = text.split(`<!-- snippet: ${mark} -->\n`);
  const [, snippet] = /^\s*```ts\n(.*?)^```$/ms.exec(rest ?? '') ?? [];
  if (snippet === undefined) throw new Error(`${page} has no snippet marked ${mark}`);
  return snippet;
}
