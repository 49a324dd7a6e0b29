import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A mistake that somebody might make in the library. */
export interface PlantedBug {
  /** Of its file, without the extension. */
  readonly name: string;
  /** The description of the mistake: the first line of its file. */
  readonly title: string;
  /** The path of its patch. */
  readonly patch: string;
}

/** Reads the patches of a folder, by name. */
export function plantedBugs(folder: string): PlantedBug[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.patch'));
  return files.sort().map((file) => {
    const patch = join(folder, file);
    const [title = ''] = readFileSync(patch, 'utf8').split('\n', 1);
    return { name: basename(file, '.patch'), title, patch };
  });
}
