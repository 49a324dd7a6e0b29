import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutationsOfLua } from './lua-mutations.js';
import type { Mutation } from './mutation.js';
import { mutationsOfTypeScript } from './typescript-mutations.js';

/** A mutation of a file of the library. */
export interface Mutant extends Mutation {
  /** Its path in the project. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** The text of that line, without what surrounds it. */
  readonly lineText: string;
  /** The replaced part of the text. */
  readonly original: string;
  /** `file:line kind`, with a number if the line has several of the kind. */
  readonly place: string;
}

/** Not mutated: layouts, entries beside the core, the build, and what only checks options or words texts. */
const LEFT_OUT = /^lib\/(build|calendar|diagnosis|events|layouts|options|otel|redisson|terminus|testing)\//;

/** Lists the files of the library that are mutated, in order. */
export function mutatedFiles(project: string): string[] {
  const entries = readdirSync(join(project, 'lib'), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.(ts|lua)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(project.length + 1))
    .filter((file) => !LEFT_OUT.test(file))
    .sort();
}

/** Lists every mutant of a file, in the order of their places. */
export function mutantsOf(project: string, file: string): Mutant[] {
  const text = readFileSync(join(project, file), 'utf8');
  const mutations = file.endsWith('.lua') ? mutationsOfLua(text) : mutationsOfTypeScript(text);
  const lines = text.split('\n');
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  const seen = new Map<string, number>();
  return mutations
    .sort((a, b) => a.start - b.start || a.end - b.end)
    .map((mutation) => {
      const line = starts.findLastIndex((start) => start <= mutation.start) + 1;
      const key = `${file}:${line} ${mutation.kind}`;
      const count = (seen.get(key) ?? 0) + 1;
      seen.set(key, count);
      const original = text.slice(mutation.start, mutation.end);
      const place = count === 1 ? key : `${key} ${count}`;
      return { ...mutation, file, line, lineText: lines[line - 1]!.trim(), original, place };
    });
}
