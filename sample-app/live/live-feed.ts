import { Inject, Injectable, type MessageEvent } from '@nestjs/common';
import {
  catchError,
  concat,
  concatMap,
  defer,
  filter,
  interval,
  map,
  merge,
  type Observable,
  of,
  startWith,
  switchMap,
  timer,
} from 'rxjs';
import { Switches } from '../controls/switches.js';
import { FiguresService } from '../figures/figures.service.js';
import { OrderBook } from '../orders/order-book.js';
import { OrdersService } from '../orders/orders.service.js';
import { FreezeWatch } from '../parcels/freeze-watch.js';
import { SHOP_STORE, type ShopStore } from '../store/shop-store.js';
import { TaskBoard } from '../tasks/task-board.js';
import { QueueCounts } from './queue-counts.js';
import type { ShopEvent } from './shop-event.js';
import { ShopEvents } from './shop-events.js';
import { StoreHealth } from './store-health.js';

const HEARTBEAT = 10_000;
const RECONNECT_AFTER = 500;
const RETRY_AFTER = 1000;

/** Nothing can be read until the next snapshot. */
const AWAY: MessageEvent = { type: 'away', data: {} };

/** Sends a page everything once, then each change. */
@Injectable()
export class LiveFeed {
  constructor(
    @Inject(SHOP_STORE) private readonly store: ShopStore,
    private readonly book: OrderBook,
    private readonly orders: OrdersService,
    private readonly tasks: TaskBoard,
    private readonly counts: QueueCounts,
    private readonly events: ShopEvents,
    private readonly health: StoreHealth,
    private readonly switches: Switches,
    private readonly figures: FiguresService,
    private readonly freezes: FreezeWatch,
  ) {}

  open(): Observable<MessageEvent> {
    // Lets both ends tell a dead connection from an idle one.
    const heartbeat = interval(HEARTBEAT).pipe(map((): MessageEvent => ({ type: 'heartbeat', data: {} })));
    const shop = this.health.reachable.pipe(switchMap((reachable) => (reachable ? this.#news() : of(AWAY))));
    return merge(shop, heartbeat);
  }

  /** The snapshot first, then everything that happened since it was begun. */
  #news(): Observable<MessageEvent> {
    const counts = this.counts.changes.pipe(map((data): MessageEvent => ({ type: 'counts', data })));
    const figures = this.figures.changes.pipe(map((data): MessageEvent => ({ type: 'figures', data })));
    const events = this.events.all.pipe(
      filter(isForPages),
      startWith<ShopEvent>({ type: 'gap' }),
      concatMap((event) => (event.type === 'gap' ? this.#snapshot() : of(event))),
    );
    return merge(events, counts, figures);
  }

  /** The store may go away at any time, and be back before anybody notices. */
  #snapshot(): Observable<MessageEvent> {
    return defer(() => this.#read()).pipe(
      catchError(() => concat(of(AWAY), timer(RETRY_AFTER).pipe(switchMap(() => this.#snapshot())))),
    );
  }

  async #read(): Promise<MessageEvent> {
    const [now, orders, tasks, switches, counts] = await Promise.all([
      this.book.now(),
      this.orders.latest(),
      this.tasks.latest(),
      this.switches.read(),
      this.counts.read(),
    ]);
    const { kind, label } = this.store;
    const read = { now: now.toISOString(), orders, tasks, switches, counts };
    const data = { ...read, store: { kind, label }, figures: this.figures.current, freeze: this.freezes.current };
    return { type: 'snapshot', retry: RECONNECT_AFTER, data };
  }
}

/** Pages learn of unlisted orders from figures and counts; sending a thousand of them one by one would only cost time. */
function isForPages(event: ShopEvent): boolean {
  return event.type !== 'batch' && (event.type !== 'order' || event.data.listed);
}
