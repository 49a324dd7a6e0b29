import { Injectable, Logger } from '@nestjs/common';
import { DelayQueueProducer, type MessageCounts } from 'nestjs-delay-queue';
import { ControlsService } from '../controls/controls.service.js';
import { type DeadOrder, DeadOrders } from '../dead-letters/dead-orders.js';
import { OrdersService } from '../orders/orders.service.js';
import { OrderBook } from '../orders/order-book.js';
import {
  catchError,
  delay,
  distinctUntilChanged,
  EMPTY,
  exhaustMap,
  from,
  interval,
  merge,
  type Observable,
  share,
  startWith,
  throttleTime,
} from 'rxjs';
import { ShopEvents } from './shop-events.js';

export interface ShopCounts {
  /** `done`: how many orders have ever been cancelled by their messages. */
  readonly orders: MessageCounts & { readonly done: number };
  /** The oldest dead letters of the orders. */
  readonly deadOrders: readonly DeadOrder[];
  /** The ids of the listed orders that have a dead letter. */
  readonly redrivable: readonly string[];
}

const INTERVAL = 1000;
const MIN_INTERVAL = 100;
/** A handler announces what it did while its message is still active; soon after, the message is gone. */
const SETTLING = 150;

@Injectable()
export class QueueCounts {
  readonly #logger = new Logger(QueueCounts.name);

  /** The counts, whenever they change. Shared by all subscribers; without any, Redis is not asked. */
  readonly changes: Observable<ShopCounts>;

  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly book: OrderBook,
    private readonly letters: DeadOrders,
    private readonly listed: OrdersService,
    private readonly controls: ControlsService,
    events: ShopEvents,
  ) {
    this.changes = merge(interval(INTERVAL), events.all, events.all.pipe(delay(SETTLING))).pipe(
      startWith(null),
      throttleTime(MIN_INTERVAL, undefined, { leading: true, trailing: true }),
      exhaustMap(() => from(this.read()).pipe(catchError((error: unknown) => this.#skip(error)))),
      distinctUntilChanged((a, b) => JSON.stringify(a) === JSON.stringify(b)),
      share(),
    );
  }

  async read(): Promise<ShopCounts> {
    const [orders, done] = await Promise.all([
      this.producer.counts('orders'),
      this.book.cancelled(),
      this.controls.notice(),
    ]);
    const dead = orders.dead > 0 ? await this.#readDead() : { deadOrders: [], redrivable: [] };
    return { orders: { ...orders, done }, ...dead };
  }

  async #readDead(): Promise<Pick<ShopCounts, 'deadOrders' | 'redrivable'>> {
    const redrivable = this.listed.latest().then((orders) => this.letters.idsAmong(orders));
    const [deadOrders, ids] = await Promise.all([this.letters.list(), redrivable]);
    return { deadOrders, redrivable: ids };
  }

  #skip(error: unknown): Observable<never> {
    this.#logger.warn(`Could not read the counts: ${String(error)}`);
    return EMPTY;
  }
}
