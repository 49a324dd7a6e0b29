import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** A file of JSON lines, each of which replaces earlier ones with its key, so that an interrupted run loses nothing. */
export class JsonLines<Entry> {
  readonly #entries = new Map<string, Entry>();

  constructor(
    private readonly file: string,
    private readonly keyOf: (entry: Entry) => string,
  ) {
    if (!existsSync(file)) return;
    // The last line is incomplete if its write was interrupted.
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    for (const line of lines) this.#remember(JSON.parse(line) as Entry);
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  put(entry: Entry): void {
    mkdirSync(dirname(this.file), { recursive: true });
    appendFileSync(this.file, `${JSON.stringify(entry)}\n`);
    this.#remember(entry);
  }

  #remember(entry: Entry): void {
    this.#entries.set(this.keyOf(entry), entry);
  }
}
