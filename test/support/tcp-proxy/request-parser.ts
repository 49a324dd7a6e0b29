/** A command as a client sent it. */
export interface Request {
  /** Upper case. */
  readonly command: string;
  readonly args: readonly Buffer[];
  /** All of its bytes. */
  readonly bytes: Buffer;
}

/** Cuts what a client sends into commands: arrays of bulk strings, which is all that client libraries send. */
export class RequestParser {
  #rest: Buffer = Buffer.alloc(0);

  /** @returns the commands that are complete now */
  push(chunk: Buffer): Request[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const requests: Request[] = [];
    for (;;) {
      const reader = new Reader(this.#rest);
      const words = readWords(reader);
      if (!words) return requests;
      const [command, ...args] = words;
      requests.push({
        command: command?.toString().toUpperCase() ?? '',
        args,
        bytes: this.#rest.subarray(0, reader.at),
      });
      this.#rest = this.#rest.subarray(reader.at);
    }
  }
}

/** Writes a command as a client would. */
export function encodeRequest(...words: readonly (string | Buffer)[]): Buffer {
  const parts = words.flatMap((word) => [`$${Buffer.byteLength(word)}\r\n`, word, '\r\n']);
  return Buffer.concat([`*${words.length}\r\n`, ...parts].map((part) => Buffer.from(part)));
}

function readWords(reader: Reader): Buffer[] | undefined {
  const count = reader.length('*');
  if (count === undefined) return undefined;
  const words: Buffer[] = [];
  while (words.length < count) {
    const length = reader.length('$');
    const word = length === undefined ? undefined : reader.bytes(length);
    if (!word) return undefined;
    words.push(word);
  }
  return words;
}

class Reader {
  at = 0;

  constructor(private readonly buffer: Buffer) {}

  /** A line such as `$5`; undefined: it is not all there yet. */
  length(kind: string): number | undefined {
    const end = this.buffer.indexOf('\r\n', this.at);
    if (end < 0) return undefined;
    const line = this.buffer.toString('latin1', this.at, end);
    if (!line.startsWith(kind)) throw new Error(`A client sent '${line}' where ${kind} was expected.`);
    this.at = end + 2;
    return Number(line.slice(1));
  }

  bytes(length: number): Buffer | undefined {
    const start = this.at;
    if (this.buffer.length < start + length + 2) return undefined;
    this.at = start + length + 2;
    return this.buffer.subarray(start, start + length);
  }
}
