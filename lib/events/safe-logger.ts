import { Logger } from '@nestjs/common';

/** A logger that never throws. Nest passes lines to the application's own logger, whose errors must not end a loop. */
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
    // There is nowhere left to report it.
  }
}
