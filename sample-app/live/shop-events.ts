import type { Observable } from 'rxjs';
import type { ShopEvent } from './shop-event.js';

/** Carries events to every process of the shop. */
export abstract class ShopEvents {
  /** The events of all processes, this one included. */
  abstract readonly all: Observable<ShopEvent>;

  abstract publish(event: ShopEvent): Promise<void>;
}
