import { readFileSync } from 'node:fs';

const PAGES = ['README', 'docs/moving'].map((page) => new URL(`../../../${page}.md`, import.meta.url));
const SNIPPET = /<!-- pair: (\w+) -->\s*^```(java|ts)\n(.*?)^```$/gms;

/** The snippets of the pages that belong together. */
export interface DocPair {
  readonly name: string;
  readonly java: readonly string[];
  readonly ts: readonly string[];
}

/** The pairs of Java and TypeScript that the pages show. */
export function docPairs(): DocPair[] {
  const snippets = PAGES.flatMap((page) => [...readFileSync(page, 'utf8').matchAll(SNIPPET)]);
  const sources = (pair: string, of: string) =>
    snippets.filter(([, name, language]) => name === pair && language === of).map(([, , , source]) => source!);
  const json = { name: 'json', java: sources('json', 'java'), ts: sources('json', 'ts') };
  // "Leave the codec out of the Java classes above", and what is not shown again stays the same.
  const java = json.java.map((source) => source.replace(/^ *Codec codec = .*\n/gm, '').replaceAll(', codec)', ')'));
  return [json, { name: 'kryo5', java, ts: [...json.ts, ...sources('kryo5', 'ts')] }];
}
