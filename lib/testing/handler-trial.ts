import { encodeBody, type MessageContent } from '../message/codec/message-codec.js';
import { Delivery } from '../consumer/delivery.js';
import type { MessageRunner } from '../consumer/message-runner.js';
import { Events } from '../events/events.js';
import type { DeclaredQueue } from '../handler/handler-registry.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { ComingAgain } from '../message/handler-results.js';
import { NO_TYPE } from '../message/message-id.js';
import { assertGrouped, assertRetries } from '../producer/assert-supported.js';
import { createRunner } from '../runtime/create-runner.js';
import type { Instance } from '../runtime/instance.js';
import type { ConfiguredHandler, Queue } from '../runtime/queues.js';
import type { Outcome } from '../store/consumer-store.js';
import type { Clock } from '../timing/clock.js';
import type { HandleOutcome } from './handle-outcome.js';
import type { TestBench } from './test-bench.js';

export interface TrialMessage extends MessageContent {
  readonly id: string;
  readonly attempt: number;
}

/** Calls a queue's handler with a message as if the queue had delivered it. Nothing is stored. */
export class HandlerTrial {
  readonly #queue: Queue;
  readonly #handled: DeclaredQueue;
  readonly #clock: Clock;
  readonly #runner: MessageRunner;

  /** @throws DelayQueueError `INVALID_ARGUMENT` if the application does not handle the queue */
  constructor(name: string, { queues, handlers, events }: Instance, { clock, random }: TestBench) {
    const handled = handlers.servedBy(name);
    if (!handled) throw unhandled(name, handlers.handled());
    this.#handled = handled;
    this.#queue = queues.get(name);
    this.#clock = clock;
    const configured = queues.handlersOf(handled, name).map(withoutWait);
    this.#runner = createRunner(this.#queue, configured, { clock, random, events: onlyMistakes(events) });
  }

  handlerOf(type: string): string {
    const { name, handlers } = this.#handled;
    const handler = handlers.get(type) ?? handlers.get(NO_TYPE);
    if (handler) return handler.name;
    const what = type === NO_TYPE ? 'messages without a type' : `type '${type}'`;
    const known = [...handlers.keys()].map((each) => `'${each}'`).join(', ');
    throw new DelayQueueError(
      'INVALID_ARGUMENT',
      `type: queue '${name}' has no handler for ${what}, only for ${known}`,
    );
  }

  /** @throws DelayQueueError `INVALID_PAYLOAD`, `PAYLOAD_TOO_LARGE`, `INVALID_ARGUMENT`, `UNSUPPORTED_BY_LAYOUT` */
  async run({ id, attempt, ...content }: TrialMessage): Promise<HandleOutcome> {
    const { codec, options, name } = this.#queue;
    if (content.group !== undefined) assertGrouped(this.#queue, 'group');
    if (content.retries) assertRetries(this.#queue, content.retries);
    const body = Buffer.from(encodeBody({ codec, maxPayloadBytes: options.maxPayloadBytes }, content));
    const now = this.#clock.wall();
    const message = { id, body, failedAttempts: attempt - 1, dueAt: now, offeredAt: now };
    const lease = { token: '', claimedAt: now, receivedAt: 0, end: Infinity, held: 1, storeNow: () => now };
    const delivery = new Delivery(name, message, lease);
    const outcome = await this.#runner.run(delivery);
    return this.#explain(outcome, delivery, body);
  }

  #explain(outcome: Outcome, { thrown }: Delivery, body: Buffer): HandleOutcome {
    switch (outcome.kind) {
      case 'ack':
        return { kind: 'ack' };
      case 'retry':
        return { kind: 'retry', delay: outcome.delay, error: thrown?.error };
      case 'again':
        return { kind: 'again', ...comingAgain(outcome), payload: this.#payloadOf(outcome.body ?? body) };
      case 'dead':
        return { kind: 'dead', error: thrown ? thrown.error : JSON.parse(outcome.error) };
      case 'defer':
        return { kind: 'defer', ...comingAgain(outcome) };
      case 'release':
        return { kind: 'defer', delay: 0 };
    }
  }

  #payloadOf(body: string | Buffer): unknown {
    return this.#queue.codec.decode(Buffer.from(body as string)).payload;
  }
}

function comingAgain(outcome: ComingAgain): { readonly delay: number } | { readonly at: Date } {
  return 'at' in outcome ? { at: new Date(outcome.at) } : { delay: outcome.delay };
}

/** Limits a handler's batches to one message, so that none waits for others. */
function withoutWait({ handler, options }: ConfiguredHandler): ConfiguredHandler {
  return { options, handler: handler.batch ? { ...handler, batch: { ...handler.batch, size: 1, wait: 0 } } : handler };
}

/** Passes on only the note `misused`. Other events would report what happened to a message, and no real message was handled. */
function onlyMistakes(events: Events): Events {
  const quiet = new Events();
  quiet.on('misused', (event) => events.note('misused', event));
  return quiet;
}

function unhandled(name: string, queues: readonly DeclaredQueue[]): DelayQueueError {
  const names = queues.map((queue) => `'${queue.name}'`).join(', ');
  const known = names === '' ? 'it has no handlers at all' : `it handles ${names}`;
  return new DelayQueueError(
    'INVALID_ARGUMENT',
    `queue: this application has no handler for queue '${name}'; ${known}`,
  );
}
