import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Subject } from 'rxjs';
import type { ShopEvent } from '../../live/shop-event.js';
import { ShopEvents } from '../../live/shop-events.js';
import { RedisConnection } from './redis-connection.js';
import { TurnBatch } from './turn-batch.js';

const CHANNEL = 'shop:events';

@Injectable()
export class RedisShopEvents extends ShopEvents implements OnModuleInit {
  override readonly all = new Subject<ShopEvent>();
  readonly #published = new TurnBatch<ShopEvent, void>(async (events) => {
    await this.redis.commands.publish(CHANNEL, JSON.stringify(events));
    return events.map(() => undefined);
  });

  constructor(private readonly redis: RedisConnection) {
    super();
  }

  async onModuleInit(): Promise<void> {
    const { subscriber } = this.redis;
    subscriber.on('message', (_channel, text: string) => {
      for (const event of JSON.parse(text) as ShopEvent[]) this.all.next(event);
    });
    await subscriber.subscribe(CHANNEL);
    subscriber.on('ready', () => void this.#resubscribe());
  }

  override publish(event: ShopEvent): Promise<void> {
    return this.#published.add(event);
  }

  /** Events published while the connection was down are lost. */
  async #resubscribe(): Promise<void> {
    try {
      await this.redis.subscriber.subscribe(CHANNEL);
      this.all.next({ type: 'gap' });
    } catch {
      // The connection broke again; the next one subscribes again.
    }
  }
}
