import { Module } from '@nestjs/common';
import { CouponSender } from './coupon-sender.js';
import { CouponsController } from './coupons.controller.js';

@Module({ controllers: [CouponsController], providers: [CouponSender] })
export class CouponsModule {}
