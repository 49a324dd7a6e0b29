import type { DelayedMessage } from '../../lib/index.js';
import { until } from './until.js';

/** One call of a handler. */
export interface HandledCall {
  readonly id: string;
  readonly payload: unknown;
  readonly attempt: number;
  readonly at: number;
  /** Milliseconds after its due time, by the clock that Redis on this machine has too. */
  readonly late: number;
  readonly message: DelayedMessage;
}

/** Remembers what a handler was called with. */
export class Handled {
  readonly calls: HandledCall[] = [];

  readonly record = (payload: unknown, message: DelayedMessage): void => {
    const at = Date.now();
    const { id, attempt, dueAt } = message;
    this.calls.push({ id, payload, attempt, at, late: at - dueAt.getTime(), message });
  };

  get ids(): string[] {
    return this.calls.map(({ id }) => id);
  }

  get payloads(): unknown[] {
    return this.calls.map(({ payload }) => payload);
  }

  of(id: string): HandledCall[] {
    return this.calls.filter((call) => call.id === id);
  }

  /** Waits until there were `count` calls, and tells of the last one. */
  async untilCalls(count: number, options?: { within: number }): Promise<HandledCall> {
    await until(() => this.calls.length >= count, options);
    return this.calls[count - 1]!;
  }

  /** Waits until this message was handled, and tells of the first time. */
  async until(id: string, options?: { within: number }): Promise<HandledCall> {
    await until(() => this.of(id).length > 0, options);
    return this.of(id)[0]!;
  }
}
