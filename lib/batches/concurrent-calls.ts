import { follow } from '../message/failure.js';
import { setImmediate } from '../timing/event-loop.js';

/** A handler call that may have to wait until other calls have ended. */
export interface WaitingCall {
  /** Makes the call; must not throw. Returns a promise that resolves when the call has ended, or undefined if it already has. */
  start(): Promise<unknown> | undefined;
  /** Called instead of {@link start} if the process stops. */
  release(): void;
}

/**
 * Limits the number of concurrent calls in a queue with a batch handler. Claims cannot do so, because they count messages, not calls. At
 * most `concurrency` calls run at once, counted across all handlers. The rest wait in order of arrival.
 */
export class ConcurrentCalls {
  #waiting: WaitingCall[] = [];
  #running = 0;
  #stopped = false;

  constructor(private readonly concurrency: number) {}

  /** Starts the call at once if it may run and no call is waiting; otherwise, after those that are waiting. */
  add(call: WaitingCall): void {
    if (this.#stopped) call.release();
    else if (this.#free > 0 && this.#waiting.length === 0) this.#start(call);
    else this.#waiting.push(call);
  }

  stop(): void {
    this.#stopped = true;
    for (const call of this.#waiting.splice(0)) call.release();
  }

  get #free(): number {
    return this.concurrency - this.#running;
  }

  #start(call: WaitingCall): void {
    this.#running++;
    const end = call.start();
    if (end) void follow(end, { onDone: this.#ended, onFailed: this.#ended });
    else this.#running--;
  }

  readonly #ended = (): void => {
    this.#running--;
    this.#startWaiting();
  };

  /** Starts waiting calls. If they end at once, the next ones follow in the next turn of the event loop, to give other work its share. */
  readonly #startWaiting = (): void => {
    for (const call of this.#waiting.splice(0, this.#free)) this.#start(call);
    if (this.#free > 0 && this.#waiting.length > 0) setImmediate(this.#startWaiting);
  };
}
