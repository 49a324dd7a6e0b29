import { Injectable } from '@nestjs/common';
import { map, type Observable, Subject, throttleTime } from 'rxjs';
import type { ShopEvent } from '../live/shop-event.js';
import { ShopEvents } from '../live/shop-events.js';
import { BatchProgress, type BatchState } from './batch-progress.js';
import { type Lateness, LatenessWindow } from './lateness-window.js';

/** What this process has seen of all processes since it started. */
export interface Figures {
  /** Of the latest thousand orders that were placed alone and that no pause has held up. A batch has its own. */
  readonly lateness: Lateness;
  /** How many of the latest thousand that were placed alone a pause has held up. */
  readonly heldUp: number;
  /** The latest batch; null if none was placed. */
  readonly batch: BatchState | null;
}

const WINDOW = 1000;
const MIN_INTERVAL = 100;

@Injectable()
export class FiguresService {
  readonly #lateness = new LatenessWindow(WINDOW);
  readonly #heldUp = new LatenessWindow(WINDOW);
  readonly #changed = new Subject<void>();
  #batch: BatchProgress | undefined;

  constructor(events: ShopEvents) {
    // Lasts as long as the application, as the events do.
    events.all.subscribe((event) => this.#see(event));
  }

  get current(): Figures {
    const heldUp = this.#heldUp.summary().count;
    return { lateness: this.#lateness.summary(), heldUp, batch: this.#batch?.state ?? null };
  }

  /** The figures whenever they change, at most ten times a second. */
  get changes(): Observable<Figures> {
    const calm = throttleTime(MIN_INTERVAL, undefined, { leading: true, trailing: true });
    return this.#changed.pipe(
      calm,
      map(() => this.current),
    );
  }

  #see(event: ShopEvent): void {
    if (event.type === 'batch') this.#batch = new BatchProgress(event.data);
    else if (event.type === 'order' && event.data.lateBy !== null) {
      const { id, batch, lateBy, heldUp } = event.data;
      if (batch !== null) this.#batch?.see(event.data);
      else (heldUp ? this.#heldUp : this.#lateness).add(id, lateBy);
    } else return;
    this.#changed.next();
  }
}
