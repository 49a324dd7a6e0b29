import { Controller, Post } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DelayQueueProducer } from 'nestjs-delay-queue';
import { couponId } from './coupon-ids.js';

const COUPONS = 6;

@Controller('coupons')
export class CouponsController {
  constructor(private readonly producer: DelayQueueProducer) {}

  @Post()
  async offer(): Promise<{ run: string; coupons: number }> {
    const run = randomUUID();
    const coupons = Array.from({ length: COUPONS }, (_, i) => ({ run, number: i + 1 }));
    await this.producer.offerMany(
      'coupons',
      coupons.map((coupon) => ({ id: couponId(coupon), payload: coupon, delay: '1s', expiresAfter: '2s' })),
    );
    return { run, coupons: COUPONS };
  }
}
