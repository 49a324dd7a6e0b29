import { redisRules } from '../redis/options/client-options.js';
import { moduleFrameSchema } from './module-options-schema.js';
import { handlerSchema, queueLayerSchema } from './queue-options-schema.js';

const IN_CONNECTION = 'it says where Redis is: set it in `connection`';

const OF_LAYOUT = 'it is an option of a layout: give it to the function that makes the layout';

/** Advice for names that are not options here. */
const SYNONYMS = new Map([
  ['name', 'it names an instance: give it to forRoot(), or to forRootAsync() beside useFactory'],
  ['codec', OF_LAYOUT],
  ['format', OF_LAYOUT],
  ['url', IN_CONNECTION],
  ['redis', IN_CONNECTION],
  ['retries', 'use attempts, which includes the first one'],
  ['maxRetries', 'use attempts, which includes the first one'],
  ['retryDelay', 'use backoff'],
  ['ttl', 'use expiresAfter'],
]);

/** Says where a misplaced option belongs; undefined if no option has that name. */
export function placeOf(option: string): string | undefined {
  const elsewhere = SYNONYMS.get(option);
  if (elsewhere !== undefined) return elsewhere;
  if (option in queueLayerSchema.shape) return 'it is an option of queues: set it in `defaults`, or in `queues`';
  if (option in handlerSchema.shape) return 'it is an option of handlers: give it to @DelayedHandler()';
  if (option in moduleFrameSchema.shape) return 'it is an option of the module: give it to forRoot()';
  return Object.hasOwn(redisRules, option) ? IN_CONNECTION : undefined;
}
