import type { MessageBody } from '../message/codec/message-codec.js';
import { BatchRunner } from '../batches/batch-runner.js';
import { CallLine } from '../batches/call-line.js';
import { GroupBatches } from '../batches/group-batches.js';
import { MessageRunner, type Route } from '../consumer/message-runner.js';
import { Outcomes } from '../consumer/outcomes.js';
import { RetryPolicy } from '../consumer/retry-policy.js';
import { UnknownTypes } from '../consumer/unknown-types.js';
import type { Events } from '../events/events.js';
import type { Calendar } from '../message/repeat-rule.js';
import type { Observers } from '../events/observers.js';
import type { Clock } from '../timing/clock.js';
import type { ConfiguredHandler, Queue } from './queues.js';

/** What the parts of a worker have in common. */
export interface WorkerParts {
  readonly clock: Clock;
  readonly events: Events;
  readonly observers?: Observers;
  /** For jitter, 0–1. */
  readonly random: () => number;
  readonly calendar?: Calendar | undefined;
}

type RouteParts = WorkerParts & { readonly outcomes: Outcomes; readonly line: CallLine };

function routeTo({ handler, options }: ConfiguredHandler, parts: RouteParts): Route {
  const { call, check, batch } = handler;
  const { timeout } = options;
  const { clock, events, random, outcomes, line, observers } = parts;
  const retryPolicy = new RetryPolicy(options, events, random);
  const calls = { call, check, retryPolicy, timeout };
  if (!batch) return { ...calls, batch };
  const { isPerGroup, ...settings } = batch;
  const batches = { ...calls, ...settings, outcomes, clock, line, observers };
  if (!isPerGroup) return { ...calls, batch: new BatchRunner(batches) };
  return { ...calls, batch: new GroupBatches({ ...batches, groupConcurrency: options.groups?.concurrency ?? null }) };
}

/** What takes the messages of a queue to its handlers. */
export function createRunner(
  { codec, options, router }: Queue,
  handlers: readonly ConfiguredHandler[],
  parts: WorkerParts,
): MessageRunner {
  const { clock, events, random, observers, calendar } = parts;
  const accepts = (body: MessageBody) => router.stores[0]!.accepts?.(body);
  const outcomes = new Outcomes({ ...options, codec, clock, events, accepts });
  const line = new CallLine(options.concurrency);
  return new MessageRunner({
    codec,
    routes: new Map(handlers.map((each) => [each.handler.type, routeTo(each, { ...parts, outcomes, line })])),
    doubt: options.layout.createDoubt?.(),
    expiry: options.layout.can.expiry ? { after: options.expiresAfter, onExpired: options.onExpired } : undefined,
    unknownTypes: new UnknownTypes({ grace: options.unknownTypeGrace, events, random }),
    repeating: calendar && { calendar, attempts: options.attempts },
    outcomes,
    clock,
    observers,
    line: handlers.some(({ handler }) => handler.batch) ? line : undefined,
  });
}
