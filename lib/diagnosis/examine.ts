import type { Duration } from '../message/duration.js';
import { assertQueueName } from '../message/queue-name.js';
import { resolveModuleOptions, resolveOptionsOf } from '../options/resolve-options.js';
import type { QueueLayout } from '../store/layout.js';
import type { ConnectionOptions } from '../redis/options/connection-options.js';
import { Doctor, type DoctorSettings } from './doctor.js';
import type { Finding } from './finding.js';
import { currentLibraries } from './function-libraries.js';

/** What {@link examine} checks. All fields are optional. Those that are also module options have the same meaning. */
export interface Examination {
  /** Where Redis is. Default: `'redis://127.0.0.1:6379'`. */
  readonly connection?: ConnectionOptions | undefined;
  /** The module's `prefix`. Default: `'delay-queue'`. */
  readonly prefix?: string | undefined;
  /** How long each call may take, and how late the probe may be. 10 ms – 10 min. Default: `'5s'`. */
  readonly offerTimeout?: Duration | undefined;
  /** The server's name in findings, such as its address. Default: `'Redis'`. */
  readonly server?: string | undefined;
  /** The queue for which a worker's permissions are checked. Default: the probe's queue. */
  readonly queue?: string | undefined;
  /** The `layout` of that queue. Default: `'native'`. */
  readonly layout?: 'native' | QueueLayout | undefined;
  /** Other layouts in use. If omitted, their function libraries count as those of another version. */
  readonly layouts?: readonly QueueLayout[] | undefined;
  /** The module's `scripting`. Default: functions where they are available. */
  readonly scripting?: 'functions' | 'scripts' | undefined;
}

/**
 * Checks whether Redis, and the user that connects to it, are fit for delay queues: connection, version, eviction, persistence,
 * permissions, functions and clock. Finally, offers and handles a message in a queue of its own, and leaves no key behind. Needs no module
 * or other process.
 * @returns the findings, one after another; ends after a finding that makes the rest pointless
 * @throws DelayQueueError `INVALID_OPTION` or `INVALID_ARGUMENT` before anything is sent; `NOT_CONNECTED` or `OUTCOME_UNKNOWN` if the
 *   connection breaks later
 * @example
 * ```ts
 * for await (const { verdict, check, found, advice } of examine({ connection: process.env.REDIS_URL })) {
 *   if (verdict !== 'ok') console.warn(`${check}: ${found}`, advice);
 * }
 * ```
 */
export async function* examine(examination: Examination = {}): AsyncGenerator<Finding, void, undefined> {
  const { connection, prefix, offerTimeout, server = 'Redis', queue, layout, layouts = [], scripting } = examination;
  const options = resolveModuleOptions({ connection, prefix, offerTimeout, scripting });
  const examined = queue === undefined ? undefined : readExamined(queue, layout);
  const libraries = currentLibraries(examined?.layout ? [examined.layout, ...layouts] : layouts);
  const doctor = new Doctor({ options, server, examined, libraries });
  try {
    yield* doctor.examine();
  } finally {
    await doctor.close();
  }
}

function readExamined(queue: string, layout: Examination['layout']): DoctorSettings['examined'] {
  assertQueueName(queue);
  return { queue, layout: resolveOptionsOf(queue, { layout }).layout };
}
