import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedHandler, type DelayQueueEvent, OnDelayQueueEvent } from 'nestjs-delay-queue';
import { ShopEvents } from '../live/shop-events.js';
import { readCouponId } from './coupon-ids.js';
import type { Coupon } from './coupon-news.js';

/** How long it takes to send one: the mail server is slow. */
const SENDING = 700;

@Injectable()
export class CouponSender {
  constructor(private readonly events: ShopEvents) {}

  @DelayedHandler('coupons', { concurrency: 1 })
  async send(coupon: Coupon): Promise<void> {
    await sleep(SENDING);
    await this.events.publish({ type: 'coupon', data: { ...coupon, state: 'sent' } });
  }

  @OnDelayQueueEvent('expired', 'coupons')
  async expired({ id }: DelayQueueEvent<'expired'>): Promise<void> {
    await this.events.publish({ type: 'coupon', data: { ...readCouponId(id), state: 'expired' } });
  }
}
