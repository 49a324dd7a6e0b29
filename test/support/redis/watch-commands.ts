import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/** A command that a server has run. */
export interface RunCommand {
  /** The address of the client that sent it, or `lua`. */
  readonly source: string;
  readonly words: readonly string[];
}

/** Matches a line of `MONITOR`: a time, the database and the source, and the words in quotes. */
const LINE = /^\+[\d.]+ \[\d+ ([^\]]+)\] (.*)$/;
const WORD = /"((?:[^"\\]|\\.)*)"/g;

/**
 * Reports what a server runs, until the returned function is called. Speaks to the server itself: ioredis fails if the first command is
 * reported together with the reply to `MONITOR`, as happens on a busy server.
 */
export async function watchCommands(url: string, onCommand: (command: RunCommand) => void): Promise<() => void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = createInterface(socket);
  lines.on('line', (line) => {
    const [, source, words] = LINE.exec(line) ?? [];
    if (source !== undefined)
      onCommand({ source, words: [...words!.matchAll(WORD)].map(([, word]) => unescaped(word!)) });
  });
  const begun = once(lines, 'line');
  socket.write('MONITOR\r\n');
  await begun;
  return () => {
    lines.close();
    socket.destroy();
  };
}

function unescaped(word: string): string {
  return word.replace(/\\(x..|.)/g, (_, code: string) =>
    code.startsWith('x') ? String.fromCharCode(parseInt(code.slice(1), 16)) : (ESCAPES[code] ?? code),
  );
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b' };
