import { ConsoleLogger, type LogLevel } from '@nestjs/common';

/** Characters that a terminal obeys, or that make text look like other text. */
const OBEYED = /[\p{Control}\p{Format}\u2028\u2029]/gu;

/** Logs what customers type, too, so it escapes what a terminal would obey. */
export class ShopLogger extends ConsoleLogger {
  protected override stringifyMessage(message: unknown, level: LogLevel): string {
    return super.stringifyMessage(typeof message === 'string' ? message.replace(OBEYED, escapeOf) : message, level);
  }
}

function escapeOf(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}
