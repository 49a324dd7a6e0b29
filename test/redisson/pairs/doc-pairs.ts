import { readFileSync } from 'node:fs';

const PAGE = new URL('../../../docs/redisson.md', import.meta.url);
const SNIPPET = /<!-- pair: (\w+) -->\s*^```(java|ts)\n(.*?)^```$/gms;

/** The snippets of the page that belong together. */
export interface DocPair {
  readonly name: string;
  readonly java: readonly string[];
  readonly ts: readonly string[];
}

/** All pairs of Java and TypeScript that the page shows. */
export function docPairs(): DocPair[] {
  const snippets = [...readFileSync(PAGE, 'utf8').matchAll(SNIPPET)];
  const names = [...new Set(snippets.map(([, name]) => name!))];
  const sources = (pair: string, of: string) =>
    snippets.filter(([, name, language]) => name === pair && language === of).map(([, , , source]) => source!);
  return names.map((name) => ({ name, java: sources(name, 'java'), ts: sources(name, 'ts') }));
}
