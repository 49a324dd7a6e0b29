import { Logger } from '@nestjs/common';
import { logEvents } from '../../lib/events/event-log.js';
import { Events } from '../../lib/events/events.js';

/** Keeps what is logged of the events, line by line, instead of printing it. */
export class LoggedEvents extends Events {
  readonly lines: string[] = [];

  constructor() {
    super();
    const logger = new LineLogger(this.lines);
    logEvents(this, { queues: logger, redis: logger });
  }
}

class LineLogger extends Logger {
  constructor(private readonly lines: string[]) {
    super();
  }

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
