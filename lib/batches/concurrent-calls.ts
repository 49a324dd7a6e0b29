import { follow } from '../message/failure.js';
import { setImmediate } from '../timing/event-loop.js';

/** A call of a handler that may have to wait until others have ended. */
export interface WaitingCall {
  /**
   * Makes the call; must not throw.
   *
   * @returns a promise of its end, unless it has already ended
   */
  start(): Promise<unknown> | undefined;
  /** There will be no call, because the process stops. */
  release(): void;
}

/**
 * Bounds the calls of a queue that has a handler of batches: claims count messages, and cannot bound calls then. At most `concurrency`
 * calls run at once, of whatever handlers; the others wait in the order in which they came.
 */
export class ConcurrentCalls {
  #waiting: WaitingCall[] = [];
  #running = 0;
  #stopped = false;

  constructor(private readonly concurrency: number) {}

  /** Starts the call at once if it may run and none waits; otherwise, after those that wait. */
  add(call: WaitingCall): void {
    if (this.#stopped) call.release();
    else if (this.#free > 0 && this.#waiting.length === 0) this.#start(call);
    else this.#waiting.push(call);
  }

  /** Starts no further call. */
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

  /** Calls that end at once make room for others: these follow in the next turn of the event loop, so that nothing starves. */
  readonly #startWaiting = (): void => {
    for (const call of this.#waiting.splice(0, this.#free)) this.#start(call);
    if (this.#free > 0 && this.#waiting.length > 0) setImmediate(this.#startWaiting);
  };
}
