import { Readable, Writable } from 'node:stream';
import { runCommandLine } from '../../packages/cli/src/program.js';
import type { Terminal } from '../../packages/cli/src/terminal.js';
import type { CommandResult, CommandSettings } from './command-line.js';

/** A terminal in memory, or a pipe. */
export class TestTerminal implements Terminal {
  readonly input: Terminal['input'];
  readonly output: Terminal['output'];
  readonly problems: Writable;
  printed = '';
  said = '';

  constructor({ isTTY, answers = [] }: { isTTY: boolean; answers?: readonly string[] }) {
    this.input = Object.assign(Readable.from(answers), { isTTY });
    this.output = Object.assign(
      intoText((text) => (this.printed += text)),
      { isTTY },
    );
    this.problems = intoText((text) => (this.said += text));
  }
}

function intoText(add: (text: string) => void): Writable {
  return new Writable({ write: (chunk: Buffer, _, done) => (add(chunk.toString()), done()) });
}

/** Runs the command line to its end in this process, without a terminal. */
export async function runInProcess(
  { url, prefix }: CommandSettings,
  ...words: readonly string[]
): Promise<CommandResult> {
  const terminal = new TestTerminal({ isTTY: false });
  const code = await runCommandLine(['--url', url, '--prefix', prefix, ...words], terminal);
  return { code, output: terminal.printed, problems: terminal.said };
}
