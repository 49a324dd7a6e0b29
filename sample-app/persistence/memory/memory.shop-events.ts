import { Injectable } from '@nestjs/common';
import { Subject } from 'rxjs';
import type { ShopEvent } from '../../live/shop-event.js';
import { ShopEvents } from '../../live/shop-events.js';

@Injectable()
export class MemoryShopEvents extends ShopEvents {
  override readonly all = new Subject<ShopEvent>();

  override publish(event: ShopEvent): Promise<void> {
    this.all.next(event);
    return Promise.resolve();
  }
}
