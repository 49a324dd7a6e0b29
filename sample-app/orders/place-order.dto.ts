import { BadRequestException } from '@nestjs/common';
import type { Duration } from 'nestjs-delay-queue';

const LONGEST_ITEM = 100;

/** The body of `POST /orders`. */
export interface PlaceOrderDto {
  readonly item: string;
  readonly payWithin: Duration;
}

/** Reads what somebody sent, filling in what is left out. */
export function readPlaceOrder(body: unknown): PlaceOrderDto {
  const { item = 'A surprise', payWithin = '30m' } = (body ?? {}) as Record<string, unknown>;
  if (typeof item !== 'string' || item.trim() === '' || item.length > LONGEST_ITEM) {
    throw new BadRequestException(`item must be text of 1 to ${LONGEST_ITEM} characters`);
  }
  // The delay queue checks the duration, and says what is wrong with it.
  return { item: item.trim(), payWithin: payWithin as Duration };
}
