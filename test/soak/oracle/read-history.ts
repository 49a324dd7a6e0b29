import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { parseEntry } from '../journal/entries.js';
import { History } from './history.js';

const CHUNK = 1 << 20;

/** Reads all journals in a folder; their names begin with the index of their process. */
export function readHistory(folder: string): History {
  const history = new History();
  for (const name of readdirSync(folder).sort()) {
    const process = parseInt(name, 10);
    for (const line of linesOf(join(folder, name))) history.add(process, parseEntry(line));
  }
  return history;
}

/** The complete lines of a file; a killed process may have left its last one unfinished. */
function* linesOf(path: string): Generator<string> {
  const file = openSync(path, 'r');
  const chunk = Buffer.alloc(CHUNK);
  let rest = '';
  try {
    for (let length = readSync(file, chunk); length > 0; length = readSync(file, chunk)) {
      const lines = (rest + chunk.toString('latin1', 0, length)).split('\n');
      rest = lines.pop()!;
      yield* lines;
    }
  } finally {
    closeSync(file);
  }
}
