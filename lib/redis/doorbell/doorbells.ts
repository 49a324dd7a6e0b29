import type { Events } from '../../events/events.js';
import type { Clock } from '../../timing/clock.js';
import type { Wire } from '../connection/wire.js';
import { DoorbellPlace } from './doorbell-place.js';
import { SharedDoorbell } from './shared-doorbell.js';
import type { Unblock } from './unblocker.js';

/** The most places that share a connection. A ring costs Redis about 25 µs with one place, and 64 µs with this many. */
const MOST_PLACES = 64;

export interface DoorbellsOptions {
  readonly clock: Clock;
  readonly events: Events;
  /** Opens a connection to the server that has a key. */
  readonly openWire: (key: string) => Wire;
  /** Undefined for a cluster, where no call may name keys of several slots. */
  readonly unblock: Unblock | undefined;
}

/** The doorbells of a process, which share connections if the server allows it. */
export class Doorbells {
  readonly #options: DoorbellsOptions;
  readonly #bells = new Set<SharedDoorbell>();
  #isShared: boolean;

  constructor(options: DoorbellsOptions) {
    this.#options = options;
    this.#isShared = options.unblock !== undefined;
  }

  /** @param passOn - puts a token back for other consumers */
  open(key: string, passOn: () => Promise<void>): DoorbellPlace {
    const place = new DoorbellPlace({ key, passOn, clock: this.#options.clock });
    this.#assign(place);
    return place;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#bells].map((bell) => bell.close()));
  }

  #assign(place: DoorbellPlace): void {
    const hasRoom = (bell: SharedDoorbell) => !bell.isClosed && bell.size < MOST_PLACES && !bell.has(place.key);
    const bell = this.#isShared ? [...this.#bells].find(hasRoom) : undefined;
    (bell ?? this.#openBell(place.key)).admit(place);
  }

  #openBell(key: string): SharedDoorbell {
    const { clock, events, openWire, unblock } = this.#options;
    const bell = new SharedDoorbell({
      wire: openWire(key),
      clock,
      unblock: this.#isShared ? unblock : undefined,
      onRefused: () => this.#separate(),
      onCrossSlot: ({ message }) => {
        if (this.#isShared) events.note('doorbells-separated', { reason: message });
        this.#separate();
      },
      // Queues come and go while a process runs.
      onClosed: () => this.#bells.delete(bell),
    });
    this.#bells.add(bell);
    return bell;
  }

  /** From now on, each place has a connection of its own. */
  #separate(): void {
    if (!this.#isShared) return;
    this.#isShared = false;
    for (const bell of [...this.#bells]) {
      for (const place of bell.places.slice(1)) {
        bell.release(place);
        this.#assign(place);
      }
    }
  }
}
