import { Inject, Injectable, type MessageEvent } from '@nestjs/common';
import { concatMap, from, interval, map, merge, type Observable, of, startWith } from 'rxjs';
import { OrderBook } from '../orders/order-book.js';
import { OrdersService } from '../orders/orders.service.js';
import { SHOP_STORE, type ShopStore } from '../store/shop-store.js';
import { TaskBoard } from '../tasks/task-board.js';
import { QueueCounts } from './queue-counts.js';
import type { ShopEvent } from './shop-event.js';
import { ShopEvents } from './shop-events.js';

const HEARTBEAT = 10_000;
const RECONNECT_AFTER = 500;

/** What a page is told: everything once, then each change. */
@Injectable()
export class LiveFeed {
  constructor(
    @Inject(SHOP_STORE) private readonly store: ShopStore,
    private readonly book: OrderBook,
    private readonly orders: OrdersService,
    private readonly tasks: TaskBoard,
    private readonly counts: QueueCounts,
    private readonly events: ShopEvents,
  ) {}

  open(): Observable<MessageEvent> {
    const counts = this.counts.changes.pipe(map((data): MessageEvent => ({ type: 'counts', data })));
    // Tells a connection that died from one on which nothing happens, on both of its ends.
    const heartbeat = interval(HEARTBEAT).pipe(map((): MessageEvent => ({ type: 'heartbeat', data: {} })));
    return merge(this.#shop(), counts, heartbeat);
  }

  /** The snapshot first, then what has happened since it was begun. */
  #shop(): Observable<MessageEvent> {
    return this.events.all.pipe(
      startWith<ShopEvent>({ type: 'gap' }),
      concatMap((event) => (event.type === 'gap' ? from(this.#snapshot()) : of(event))),
    );
  }

  async #snapshot(): Promise<MessageEvent> {
    const [now, orders, tasks, counts] = await Promise.all([
      this.book.now(),
      this.orders.latest(),
      this.tasks.latest(),
      this.counts.read(),
    ]);
    const data = { now: now.toISOString(), store: this.store.label, orders, tasks, counts };
    return { type: 'snapshot', retry: RECONNECT_AFTER, data };
  }
}
