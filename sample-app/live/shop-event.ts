import type { SwitchStates } from '../controls/switches.js';
import type { OrderBatch } from '../orders/order-batch.js';
import type { Order } from '../orders/order.js';
import type { CouponNews } from '../coupons/coupon-news.js';
import type { ExportNews } from '../exports/export-news.js';
import type { FrozenWorker } from '../parcels/frozen-worker.js';
import type { ParcelNews } from '../parcels/parcel.js';
import type { Task } from '../tasks/task.js';
import type { TrialNews } from '../trials/trials.js';

/** A change that every open page wants to know about. */
export type ShopEvent =
  | { readonly type: 'order'; readonly data: Order }
  | { readonly type: 'batch'; readonly data: OrderBatch }
  | { readonly type: 'task'; readonly data: Task }
  | { readonly type: 'switches'; readonly data: SwitchStates }
  | { readonly type: 'parcel'; readonly data: ParcelNews }
  | { readonly type: 'coupon'; readonly data: CouponNews }
  | { readonly type: 'export'; readonly data: ExportNews }
  | { readonly type: 'trial'; readonly data: TrialNews }
  | { readonly type: 'frozen-worker'; readonly data: FrozenWorker }
  /** Events may have been missed: read everything again. */
  | { readonly type: 'gap' };
