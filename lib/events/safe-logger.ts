import { Logger } from '@nestjs/common';

/** Nest's logger hands lines to the application's own one. What that throws must not end a loop, or hold a message. */
export class SafeLogger extends Logger {
  override log(...line: readonly [unknown, ...unknown[]]): void {
    attempt(() => super.log(...line));
  }

  override warn(...line: readonly [unknown, ...unknown[]]): void {
    attempt(() => super.warn(...line));
  }

  override error(...line: readonly [unknown, ...unknown[]]): void {
    attempt(() => super.error(...line));
  }
}

function attempt(write: () => void): void {
  try {
    write();
  } catch {
    // There is nowhere left to say so.
  }
}
