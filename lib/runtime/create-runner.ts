import { Batches } from '../batches/batches.js';
import { callStep, checkStep, observeStep } from '../consumer/handler-steps.js';
import { type Handle, MessageRunner } from '../consumer/message-runner.js';
import { Outcomes } from '../consumer/outcomes.js';
import { RetryPolicy } from '../consumer/retry-policy.js';
import { UnknownTypes } from '../consumer/unknown-types.js';
import type { Events } from '../events/events.js';
import type { History } from '../history/history.js';
import type { Hooks } from '../message/delay-queue-observer.js';
import type { MessageBody } from '../message/codec/message-codec.js';
import type { Clock } from '../timing/clock.js';
import type { HandledRepeats } from './delay-queue-tokens.js';
import type { ConfiguredHandler, Queue } from './queues.js';

interface RunnerParts {
  readonly clock: Clock;
  readonly events: Events;
  readonly hooks?: Hooks | undefined;
  /** Returns a number from 0 to 1, for jitter. */
  readonly random: () => number;
  readonly repeats?: HandledRepeats | undefined;
  readonly history?: History | undefined;
}

/** Creates a queue's runner with only the features that the queue's options ask for. */
export function createRunner(
  { codec, options, router }: Queue,
  handlers: readonly ConfiguredHandler[],
  { clock, events, hooks, random, repeats, history }: RunnerParts,
): MessageRunner {
  const accepts = (body: MessageBody) => router.stores[0]!.accepts?.(body);
  const outcomes = new Outcomes({ ...options, codec, clock, events, accepts });
  const { concurrency, groups, layout, attempts } = options;
  const groupConcurrency = groups?.concurrency ?? null;
  const hasBatches = handlers.some(({ handler }) => handler.batch);
  const batches = hasBatches ? new Batches({ concurrency, groupConcurrency, outcomes, hooks }) : undefined;

  const handleOf = ({ handler, options: { timeout, ...retries } }: ConfiguredHandler): Handle => {
    const { check, batch } = handler;
    const call = history ? history.watch(handler.call) : handler.call;
    const rules = { check, retryPolicy: new RetryPolicy(retries, events, random), timeout };
    const parts = { rules, outcomes, clock };
    let handle: Handle;
    if (batches && batch) handle = batches.batchStep(call, batch, parts);
    else handle = batches ? batches.waitStep(callStep(call, parts)) : callStep(call, parts);
    if (check) handle = checkStep(check, parts, handle);
    // For a handler of batches, the batch runner calls the observers.
    return hooks?.handle && !batch ? observeStep(hooks.handle, parts, handle) : handle;
  };

  return new MessageRunner({
    codec,
    handles: new Map(handlers.map((each) => [each.handler.type, handleOf(each)])),
    mismatchCheck: layout.createMismatchCheck?.(),
    expiry: layout.can.expiry ? { after: options.expiresAfter, onExpired: options.onExpired } : undefined,
    unknownTypes: new UnknownTypes({ grace: options.unknownTypeGrace, events, random }),
    repeats: repeats?.termsFor(attempts),
    waitingCalls: batches,
    outcomes,
  });
}
