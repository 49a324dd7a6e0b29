import { Injectable } from '@nestjs/common';
import type { ShopEvent } from '../live/shop-event.js';
import { ShopEvents } from '../live/shop-events.js';
import type { FrozenWorker } from './frozen-worker.js';
import type { ParcelNews } from './parcel.js';

/** The latest demonstration of a frozen worker, for pages opened in the middle of it. */
export interface FreezeState {
  readonly worker: FrozenWorker;
  /** The latest news of each parcel. */
  readonly parcels: readonly ParcelNews[];
}

@Injectable()
export class FreezeWatch {
  readonly #parcels = new Map<number, ParcelNews>();
  #worker: FrozenWorker | undefined;

  constructor(events: ShopEvents) {
    // Lasts as long as the application, as the events do.
    events.all.subscribe((event) => this.#see(event));
  }

  /** Null if this process has seen none. */
  get current(): FreezeState | null {
    return this.#worker ? { worker: this.#worker, parcels: [...this.#parcels.values()] } : null;
  }

  #see(event: ShopEvent): void {
    if (event.type === 'frozen-worker') {
      if (event.data.run !== this.#worker?.run) this.#parcels.clear();
      this.#worker = event.data;
    } else if (event.type === 'parcel' && event.data.run === this.#worker?.run) {
      this.#parcels.set(event.data.number, event.data);
    }
  }
}
