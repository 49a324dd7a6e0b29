import { randomBytes } from 'node:crypto';

/** A name nobody else uses, for a queue or a key prefix: tests share one server and run side by side. */
export function randomName(prefix: string): string {
  return `${prefix}-${randomBytes(6).toString('hex')}`;
}
