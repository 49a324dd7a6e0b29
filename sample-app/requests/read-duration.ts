import { BadRequestException } from '@nestjs/common';
import type { Duration } from 'nestjs-delay-queue';

const BARE_NUMBER = /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i;

/**
 * Reads a duration from outside. The library takes '30' for 30 ms, like the number 30, but whoever writes it into a form or an
 * address means seconds or minutes. The library checks everything else itself, and says what is wrong.
 */
export function readDuration(value: unknown, name: string): Duration {
  if (typeof value === 'string' && BARE_NUMBER.test(value)) {
    throw new BadRequestException(`${name} '${value}' has no unit: write '30s', '10m' or '500ms', for example`);
  }
  return value as Duration;
}
