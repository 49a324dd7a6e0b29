import { BadRequestException } from '@nestjs/common';
import type { Duration } from 'nestjs-delay-queue';
import { readDuration } from '../requests/read-duration.js';

const MAX_ITEM = 100;

/** The body of `POST /orders`. */
export interface PlaceOrderDto {
  readonly item: string;
  readonly payWithin: Duration;
}

/** Reads a request body, and fills in missing fields. */
export function readPlaceOrder(body: unknown = {}): PlaceOrderDto {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new BadRequestException('The body must be a JSON object');
  }
  const { item = 'A surprise', payWithin = '30m' } = body as Record<string, unknown>;
  if (typeof item !== 'string' || item.trim() === '' || item.length > MAX_ITEM) {
    throw new BadRequestException(`item must be text of 1 to ${MAX_ITEM} characters`);
  }
  return { item: item.trim(), payWithin: readDuration(payWithin, 'payWithin') };
}
