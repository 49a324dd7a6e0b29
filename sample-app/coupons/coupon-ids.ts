import type { Coupon } from './coupon-news.js';

/** The id of a coupon's message; of one that expired, nothing else is told. */
export function couponId({ run, number }: Coupon): string {
  return `${run}:${number}`;
}

export function readCouponId(id: string): Coupon {
  const [run = '', number] = id.split(':');
  return { run, number: Number(number) };
}
