import type { Observable } from 'rxjs';

/** Knows whether the shop's data can be reached. */
export abstract class StoreHealth {
  /** Emits what is known, then each change. */
  abstract readonly reachable: Observable<boolean>;
}
