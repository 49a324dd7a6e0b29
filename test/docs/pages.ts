import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '../..');

export const PAGE_README = 'packages/board/README.md';
export const BOARD_README = 'packages/bull-board/README.md';
export const CLI_README = 'packages/cli/README.md';
export const OUTBOX_README = 'packages/outbox/README.md';
export const REDISSON_README = 'packages/redisson/README.md';

/** The folders that other programs write. */
const GENERATED = ['api', 'api-report'];

export const readPage = (page: string) => readFile(path.join(ROOT, page), 'utf8');

/** The folders with pages. */
const FOLDERS = ['docs', 'packages/redisson/docs', 'packages/redisson/declare-classes'];

/** The pages of these folders, and of those in them, from the root of the project. */
export async function docPages(): Promise<string[]> {
  const pages = FOLDERS.map(async (folder) => {
    const names = await readdir(path.join(ROOT, folder), { recursive: true });
    const written = names.filter((name) => !GENERATED.includes(name.split(path.sep)[0]!));
    return written
      .filter((name) => name.endsWith('.md'))
      .map((name) => path.posix.join(folder, ...name.split(path.sep)));
  });
  return [...(await Promise.all(pages)).flat(), REDISSON_README];
}

/** A page without its code. */
export const proseOf = (text: string) => text.replace(/```[\s\S]*?```/g, '');

/** The cells of the rows in a page's tables whose first cell is one piece of code, such as an option. */
export function rowsOf(text: string): string[][] {
  const rows = text.split('\n').filter((line) => /^\| `[^`]+` +\|/.test(line));
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
}

/** The code in a cell: `a`, `b`. */
export const codesIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(text: string): Set<string> {
  const headings = [...text.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
