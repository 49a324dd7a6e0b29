import { Logger } from '@nestjs/common';

/** Records what is logged, line by line, instead of printing it. */
export class QuietLogger extends Logger {
  readonly lines: string[] = [];

  override log(message: unknown): void {
    this.lines.push(`log ${String(message)}`);
  }
  override warn(message: unknown): void {
    this.lines.push(`warn ${String(message)}`);
  }
  override error(message: unknown): void {
    this.lines.push(`error ${String(message)}`);
  }
}
