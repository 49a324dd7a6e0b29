import { z } from 'zod/mini';
import { type DefinedBy, definitionOf } from '../options/queue-definition.js';
import type { Duration } from '../message/duration.js';
import { QUEUE_NAME, QUEUE_NAME_RULE } from '../message/queue-name.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { UNNAMED } from '../message/instance-name.js';
import { check, duration, HOUR } from '../options/check.js';
import type { InstanceOptions } from '../options/queue-options.js';
import { instanceFields } from '../options/queue-options-schema.js';

/** The options of a health check. */
export interface DelayQueueHealthOptions extends InstanceOptions {
  /**
   * The queues to check, by name or by the class of a typed queue. Default: all queues for which this application has a handler for that
   * exact name. Queues of a family are checked only if named here.
   */
  readonly queues?: readonly (string | DefinedBy<unknown>)[] | undefined;
  /**
   * How long a due message may wait for a handler before the queue counts as degraded. Make this longer than due messages normally wait,
   * for example because of a `rate`. 0 ms – 24 h. Default: `'30s'`.
   */
  readonly maxOverdue?: Duration | undefined;
  /** How long Redis may take to answer before it counts as down. 10 ms – 10 min. Default: `'1s'`. */
  readonly timeout?: Duration | undefined;
}

export interface ResolvedHealthOptions {
  /** Undefined for all queues with a handler. */
  readonly queues: readonly string[] | undefined;
  readonly instance: string;
  /** ms */
  readonly maxOverdue: number;
  /** ms */
  readonly timeout: number;
}

const queueSchema = z.custom<string | DefinedBy<unknown>>(
  (given) => definitionOf(given) !== undefined || (typeof given === 'string' && QUEUE_NAME.test(given)),
  { error: QUEUE_NAME_RULE },
);

const healthSchema = z.strictObject({
  ...instanceFields,
  queues: z.optional(z.readonly(z.array(queueSchema))),
  maxOverdue: z.prefault(duration(0, 24 * HOUR), '30s'),
  timeout: z.prefault(duration(10, HOUR / 6), '1s'),
}) satisfies z.ZodMiniType<unknown, DelayQueueHealthOptions>;

/**
 * Checks the options of a health check and fills in defaults.
 * @throws DelayQueueError `INVALID_OPTION`, naming each invalid field
 */
export function readHealthOptions(options: DelayQueueHealthOptions): ResolvedHealthOptions {
  const place = 'options of the health check';
  const { queues, instance = UNNAMED, ...others } = check(healthSchema, options, place);
  const names = queues?.map((queue, i) => {
    const definition = definitionOf(queue);
    if (!definition || (definition.instance ?? UNNAMED) === instance) return definition?.queue ?? (queue as string);
    const advice = definition.instance === undefined ? 'leave instance out' : `set instance: '${definition.instance}'`;
    const problem = `queues.${i}: queue '${definition.queue}' belongs to another instance: ${advice}, in a check of its own`;
    throw new DelayQueueError('INVALID_OPTION', `${place}: ${problem}`);
  });
  return { ...others, queues: names, instance };
}
