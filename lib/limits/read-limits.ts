import { z } from 'zod/mini';
import { check, mustBe } from '../options/check.js';
import { globalConcurrencySchema, rateSchema } from '../options/queue-options-schema.js';

const limitsSchema = z
  .strictObject(
    { globalConcurrency: z.optional(globalConcurrencySchema), rate: z.optional(rateSchema) },
    mustBe('{ globalConcurrency?, rate? }, such as { globalConcurrency: 5 }'),
  )
  .check(
    z.refine(
      ({ globalConcurrency, rate }) => globalConcurrency !== undefined || rate !== undefined,
      mustBe('{ globalConcurrency?, rate? } with at least one of them, such as { globalConcurrency: 5 }'),
    ),
  );

/** Checks limits that are set while a queue runs. @throws DelayQueueError `INVALID_ARGUMENT` */
export function readLimits(given: z.input<typeof limitsSchema>, place: string): z.output<typeof limitsSchema> {
  return check(limitsSchema, given, place, undefined, 'INVALID_ARGUMENT');
}
