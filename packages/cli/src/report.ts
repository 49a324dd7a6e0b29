import type { Terminal } from './terminal.js';
import { printable, printableJson } from './text/printable.js';

/** Prints results: as text for people, or as one JSON document per line for programs. */
export class Report {
  constructor(
    private readonly output: Terminal['output'],
    private readonly asJson: boolean,
  ) {}

  /**
   * Prints one result, or several.
   * @param records - one line of JSON each
   * @param text - the same for people, in lines
   */
  print(records: object | readonly object[], text: () => string | readonly string[]): void {
    const lines = this.asJson ? [records].flat().map(printableJson) : [text()].flat().map(printable);
    if (lines.length > 0) this.output.write(lines.map((line) => `${line}\n`).join(''));
  }
}
