import type { Observable } from 'rxjs';

/** Knows whether what the shop keeps can be reached. */
export abstract class StoreHealth {
  /** Tells what is known, then whenever it changes. */
  abstract readonly reachable: Observable<boolean>;
}
