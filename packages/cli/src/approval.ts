import { createInterface, type Interface } from 'node:readline';
import { Refusal } from './exit-codes.js';
import type { Terminal } from './terminal.js';
import { printable } from './text/printable.js';

/** Lets a command change something only if somebody agrees: with `--yes`, or to a question on a terminal. */
export class Approval {
  constructor(
    private readonly terminal: Terminal,
    private readonly yes: boolean,
  ) {}

  /** Checks that somebody has agreed, or can be asked. @throws Refusal */
  assertPossible(): void {
    const { input, output } = this.terminal;
    if (this.yes || (input.isTTY && output.isTTY)) return;
    throw new Refusal(
      'This would change Redis and needs a confirmation, but there is no terminal: add --yes. Nothing was changed.',
    );
  }

  /** Asks, unless `--yes` was given. @throws Refusal if the answer is no, or there is none */
  async ask(question: string): Promise<void> {
    if (this.yes) return;
    const { input, problems } = this.terminal;
    problems.write(`${printable(question)} [y/N] `);
    const lines = createInterface({ input });
    try {
      const answer = await firstOf(lines);
      if (!/^\s*y(es)?\s*$/i.test(answer)) throw new Refusal('Nothing was changed.');
    } finally {
      lines.close();
    }
  }
}

/** Returns the first line; empty if the input ends before it. */
function firstOf(lines: Interface): Promise<string> {
  return new Promise((resolve) => {
    lines.once('line', resolve);
    lines.once('close', () => resolve(''));
  });
}
