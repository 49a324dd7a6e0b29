import { printable } from './printable.js';

/** Numbers are aligned to the right. */
export type Cell = string | number;

/** Writes rows below their headings, in columns as wide as needed. */
export function tableOf(headings: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const texts = rows.map((row) => row.map((cell) => printable(String(cell))));
  const widths = headings.map((heading, i) => Math.max(heading.length, ...texts.map((row) => row[i]!.length)));
  const isNumeric = headings.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'));
  return [headings, ...texts].map((row) =>
    row
      .map((text, i) => (isNumeric[i] ? text.padStart(widths[i]!) : text.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd(),
  );
}

/** Writes one line for each field, with the values aligned. */
export function fieldsOf(fields: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd());
}
