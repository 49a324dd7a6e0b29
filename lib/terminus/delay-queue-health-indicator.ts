import { setTimeout } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { isFamily } from '../message/queue-name.js';
import { findInstance, type Instance } from '../runtime/instance.js';
import { type DelayQueueHealthOptions, readHealthOptions } from './health-options.js';
import { healthOf, type QueueHealth } from './queue-health.js';

/**
 * Reports the health of the delay queue to Terminus: `down` if Redis does not answer in time; `degraded` if due messages in a queue that is
 * not paused have waited for longer than `maxOverdue`, or if some of a queue's partitions do not answer. A degraded queue is not `down`,
 * because a restart would not help. Terminus 11 has no `degraded`, so there the queue is `up` with a `message`.
 * @example
 * ```ts
 * @Controller('health')
 * class HealthController {
 *   constructor(
 *     private readonly health: HealthCheckService,
 *     private readonly delayQueue: DelayQueueHealthIndicator,
 *   ) {}
 *
 *   @Get()
 *   @HealthCheck()
 *   check() {
 *     return this.health.check([() => this.delayQueue.check('delay-queue', { maxOverdue: '1m' })]);
 *   }
 * }
 * @Module({ imports: [TerminusModule], controllers: [HealthController], providers: [DelayQueueHealthIndicator] })
 * class HealthModule {}
 * ```
 */
@Injectable()
export class DelayQueueHealthIndicator {
  // Property injection keeps constructor parameters and their types out of the public API.
  @Inject() private readonly indicators!: HealthIndicatorService;
  @Inject() private readonly modules!: ModuleRef;

  /**
   * Checks the queues once.
   * @param key - the name under which Terminus shows the result
   * @returns the counts of each queue, whether the queue is paused, and how long its oldest due message has waited
   * @throws DelayQueueError `INVALID_OPTION`
   */
  async check<const Key extends string>(
    key: Key,
    options: DelayQueueHealthOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const { instance: name, maxOverdue, timeout, ...given } = readHealthOptions(options);
    const instance = findInstance(this.modules, name);
    const queues = given.queues ?? handledBy(instance);
    const session = this.indicators.check(key);
    let found: Record<string, QueueHealth>;
    try {
      found = await within(timeout, look(instance, queues));
    } catch (error) {
      return session.down({ message: (error as Error).message });
    }
    const data = { queues: found };
    const problems = problemsOf(found, maxOverdue);
    if (problems.length === 0) return session.up(data);
    const problem = { ...data, message: problems.join('; ') };
    return canBeDegraded(session) ? session.degraded(problem) : session.up(problem);
  }
}

function handledBy({ handlers }: Instance): readonly string[] {
  return handlers
    .handled()
    .map(({ name }) => name)
    .filter((name) => !isFamily(name));
}

async function look({ stores, queues }: Instance, names: readonly string[]): Promise<Record<string, QueueHealth>> {
  // Asks Redis even if there are no queues to check.
  if (names.length === 0) await stores.directory.handled();
  const found = names.map(async (name) => [name, healthOf(await queues.get(name).store.status())] as const);
  return Object.fromEntries(await Promise.all(found));
}

function problemsOf(found: Readonly<Record<string, QueueHealth>>, maxOverdue: number): string[] {
  const queues = Object.entries(found);
  const late = queues.filter(([, { paused, overdue }]) => !paused && overdue > maxOverdue).map(([name]) => name);
  const incomplete = queues.flatMap(([name, { missing }]) => (missing ? [`${name} (${missing.join(', ')})`] : []));
  return [
    ...(late.length > 0 ? [`due messages wait for longer than maxOverdue: ${late.join(', ')}`] : []),
    ...(incomplete.length > 0 ? [`partitions do not answer: ${incomplete.join(', ')}`] : []),
  ];
}

type Session = ReturnType<HealthIndicatorService['check']>;

function canBeDegraded(session: Partial<Pick<Session, 'degraded'>>): boolean {
  return session.degraded !== undefined;
}

/** @throws Error if the work takes longer than `timeout` ms */
async function within<T>(timeout: number, work: Promise<T>): Promise<T> {
  const answered = new AbortController();
  const late = async (): Promise<never> => {
    await setTimeout(timeout, undefined, { signal: answered.signal, ref: false });
    throw new Error(`Redis has not answered within ${timeout} ms`);
  };
  try {
    return await Promise.race([work, late()]);
  } finally {
    answered.abort();
  }
}
