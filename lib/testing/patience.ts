import { clearTimeout, realNow, setTimeout } from './real-time.js';

/** How much of the time between two looks counts at most, ms. If more has passed, the process itself was held up, as at a breakpoint. */
const MAX_STEP = 20;

/** Measures how long nothing has happened, in real time, by looking at short intervals. */
export class Patience {
  readonly #length: number;
  #waited = 0;
  #lookedAt = realNow();

  /** @param length - ms */
  constructor(length: number) {
    this.#length = length;
  }

  restart(): void {
    this.#waited = 0;
    this.#lookedAt = realNow();
  }

  /** Counts the time since the last look. Returns true if the time is up. */
  look(): boolean {
    const now = realNow();
    this.#waited += Math.min(now - this.#lookedAt, MAX_STEP);
    this.#lookedAt = now;
    return this.#waited >= this.#length;
  }
}

/** Waits for `work` at most `length` ms, then rejects with the error that `late` makes. */
export function waitPatiently<T>(work: Promise<T>, length: number, late: () => Error): Promise<T> {
  const patience = new Patience(length);
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const look = () => {
      if (patience.look()) reject(late());
      else timer = setTimeout(look, Math.min(MAX_STEP / 2, length));
    };
    look();
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
