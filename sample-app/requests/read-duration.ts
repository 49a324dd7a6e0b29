import { BadRequestException } from '@nestjs/common';
import type { Duration } from 'nestjs-delay-queue';

const BARE_NUMBER = /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i;

/**
 * Reads a duration from outside. The library takes '30' for 30 ms, as its number 30; who writes it into a form or an
 * address means seconds, or minutes. All else the library checks itself, and says what is wrong with it.
 */
export function readDuration(value: unknown, name: string): Duration {
  if (typeof value === 'string' && BARE_NUMBER.test(value)) {
    throw new BadRequestException(`${name} '${value}' has no unit: give text such as '30s', '10m' or '500ms'`);
  }
  return value as Duration;
}
