import type { Order } from '../orders/order.js';
import type { Task } from '../tasks/task.js';

/** Something changed, and every page that is open anywhere wants to know. */
export type ShopEvent =
  | { readonly type: 'order'; readonly data: Order }
  | { readonly type: 'task'; readonly data: Task }
  /** Events may have been missed: look at everything anew. */
  | { readonly type: 'gap' };
