/** The payload of the messages in queue `coupons`. */
export interface Coupon {
  /** The demonstration it belongs to. */
  readonly run: string;
  /** 1 for the first. */
  readonly number: number;
}

/** What has become of a coupon. */
export interface CouponNews extends Coupon {
  readonly state: 'sent' | 'expired';
}
