import { type CheckedPayload, InvalidPayload } from '../handler/definition/payload-check.js';
import type { MessageCodec } from '../message/codec/message-codec.js';
import { UnknownBodyForm } from '../message/codec/unknown-body-form.js';
import type { Observers } from '../events/observers.js';
import type { HandlerCall } from '../handler/delayed-message-handler.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { follow, isInstance, isStrayPromise, showFailure } from '../message/failure.js';
import { NO_TYPE } from '../message/message-type.js';
import type { RepeatRule } from '../message/repeat-rule.js';
import type { CodecDoubt } from '../store/layout.js';
import type { Outcome } from '../store/consumer-store.js';
import type { Clock } from '../timing/clock.js';
import { completionOf, withinTimeout } from '../handler/completion.js';
import type { BatchRunner } from '../batches/batch-runner.js';
import type { CallLine } from '../batches/call-line.js';
import type { Delivery } from './delivery.js';
import { firstDueOf, mayMatter, type QueueExpiry } from './first-due.js';
import { slowHandler, slowObserver, slowSchema, timeOut } from './handler-timeout.js';
import { observed, showOutcome } from './observed-handling.js';
import { type HandlerRules, type Outcomes, RELEASE } from './outcomes.js';
import { type RepeatSettings, Repetition } from '../repeats/repetition.js';
import type { UnknownTypes } from './unknown-types.js';

/** Collects the messages of a type. */
interface Batches extends Pick<BatchRunner, 'run' | 'stop'> {
  /** This process has no room for more messages; left out where a batch is full by then, or soon is. */
  hurry?(): void;
}

/** Where the messages of a type go. */
export interface Route extends HandlerRules {
  readonly call: HandlerCall;
  /** If its messages are handled many at a time. */
  readonly batch: Batches | undefined;
}

export interface MessageRunnerOptions {
  readonly codec: MessageCodec;
  /** By type; empty: the route of every other type. */
  readonly routes: ReadonlyMap<string, Route>;
  readonly unknownTypes: UnknownTypes;
  /** Undefined: the layout of the queue has no expiry. */
  readonly expiry?: QueueExpiry | undefined;
  /** Undefined: messages that repeat are left to other processes. */
  readonly repeating?: RepeatSettings | undefined;
  /** Of a queue whose codec may be another one than that of its messages. */
  readonly doubt?: CodecDoubt | undefined;
  readonly outcomes: Outcomes;
  readonly clock: Clock;
  readonly observers?: Pick<Observers, 'handle'> | undefined;
  /** Where calls wait for their turn, if any handler of the queue takes batches; the slots bound them otherwise. */
  readonly line: CallLine | undefined;
}

/**
 * Decodes a delivery, checks its payload, and calls its handler or adds it to a batch for it. Whatever the application's code
 * does, this neither throws nor rejects.
 */
export class MessageRunner {
  constructor(private readonly options: MessageRunnerOptions) {}

  /**
   * Handles one delivery.
   *
   * @returns the outcome itself if the handler is done when it returns: a promise for each message would be costly
   */
  run(delivery: Delivery): Outcome | Promise<Outcome> {
    const body = delivery.takeBody();
    try {
      this.#open(delivery, body);
    } catch (error) {
      if (isInstance(error, UnknownBodyForm)) return this.options.unknownTypes.unknownForm(delivery, body, error);
      return this.options.doubt?.unread(delivery.id, body, error) ?? this.options.outcomes.unreadable(delivery, error);
    }
    const { routes, unknownTypes, outcomes } = this.options;
    const unseen = outcomes.withoutCall(delivery);
    if (unseen) return unseen;
    const route = routes.get(delivery.type) ?? routes.get(NO_TYPE);
    return route ? this.#observe(delivery, route) : unknownTypes.noHandler(delivery, body);
  }

  /** Why no further message of the queue must be claimed; undefined: no reason to stop. */
  get haltReason(): string | undefined {
    return this.options.doubt?.haltReason;
  }

  /** This process has no room for more messages until some are handled. */
  hurry(): void {
    if (!this.options.line) return;
    for (const { batch } of this.options.routes.values()) batch?.hurry?.();
  }

  /** Starts no call that has to wait; what waits for one is released. */
  stop(): void {
    this.options.line?.stop();
    for (const { batch } of this.options.routes.values()) batch?.stop();
  }

  /** The calls with batches are observed where they are made. */
  #observe(delivery: Delivery, route: Route): Outcome | Promise<Outcome> {
    const { observers, outcomes } = this.options;
    if (!observers?.handle || route.batch) return this.#handle(delivery, route);
    return observed(observers.handle, delivery.message, {
      handle: () => outcomes.afterWait(delivery) ?? this.#handle(delivery, route),
      show: (outcome) => showOutcome(outcome, delivery),
      timeout: route.timeout,
      onTimeout: (observer, passed) =>
        outcomes.failed(delivery, route, timeOut([delivery], slowObserver(observer, passed))),
    });
  }

  #handle(delivery: Delivery, route: Route): Outcome | Promise<Outcome> {
    if (!route.check) return this.#call(delivery, route);
    const checked = route.check(delivery.payload);
    if (!(checked instanceof Promise)) return this.#callWith(checked, delivery, route);
    const { clock, outcomes } = this.options;
    const onTimeout = (timeout: number) => timeOut([delivery], slowSchema(timeout));
    return follow(withinTimeout(checked, { clock, timeout: route.timeout, onTimeout }), {
      onDone: (known) => outcomes.afterWait(delivery) ?? this.#callWith(known as CheckedPayload, delivery, route),
      onFailed: (error) => outcomes.failed(delivery, route, error),
    }) as Promise<Outcome>;
  }

  #callWith(checked: CheckedPayload, delivery: Delivery, route: Route): Outcome | Promise<Outcome> {
    const { outcomes } = this.options;
    if ('cause' in checked) return outcomes.threw(delivery, route, checked.cause);
    if ('problem' in checked) return outcomes.invalid(delivery, new InvalidPayload(checked.problem));
    delivery.replacePayload(checked.value);
    return this.#call(delivery, route);
  }

  #call(delivery: Delivery, route: Route): Outcome | Promise<Outcome> {
    const { line } = this.options;
    if (route.batch) return route.batch.run(delivery);
    return line ? this.#callInTurn(line, delivery, route) : this.#callNow(delivery, route);
  }

  #callInTurn(line: CallLine, delivery: Delivery, route: Route): Promise<Outcome> {
    return new Promise((settle) => {
      const start = () => {
        const outcome = this.options.outcomes.afterWait(delivery) ?? this.#callNow(delivery, route);
        settle(outcome);
        return outcome instanceof Promise ? outcome : undefined;
      };
      line.add({ start, release: () => settle(RELEASE) });
    });
  }

  #callNow(delivery: Delivery, route: Route): Outcome | Promise<Outcome> {
    const { clock, outcomes } = this.options;
    try {
      const result = completionOf(route.call(delivery.payload, delivery.message));
      if (!(result instanceof Promise)) return outcomes.returned(delivery, route, result);
      const onTimeout = (timeout: number) => timeOut([delivery], slowHandler(timeout));
      return follow(withinTimeout(result, { clock, timeout: route.timeout, onTimeout }), {
        onDone: (value) => outcomes.returned(delivery, route, value),
        onFailed: (error) => outcomes.threw(delivery, route, error),
      }) as Promise<Outcome>;
    } catch (error) {
      return outcomes.threw(delivery, route, error);
    }
  }

  /** @throws UnknownBodyForm if this process cannot tell the next time */
  #repetitionOf(delivery: Delivery, rule: RepeatRule): Repetition {
    const { repeating } = this.options;
    if (!repeating)
      throw new UnknownBodyForm('repeat', 'it repeats, and this process has no calendar (forRoot({ calendar }))');
    try {
      return new Repetition(delivery, repeating, { rule, at: delivery.firstDue!.at });
    } catch (error) {
      throw new UnknownBodyForm('repeat', `the calendar of this process cannot read its rule (${showFailure(error)})`);
    }
  }

  #open(delivery: Delivery, body: Buffer): void {
    const content = this.options.codec.decode(body);
    delivery.open(content);
    const queue = this.options.expiry;
    if (queue && mayMatter(body, content, queue))
      delivery.firstDue = firstDueOf(body, { dueAt: delivery.dueAt, content, queue });
    if (content.repeat) delivery.repetition = this.#repetitionOf(delivery, content.repeat);
    this.options.doubt?.read(delivery.id, body);
    if (isStrayPromise(delivery.payload)) {
      const problem = "body: the queue's codec decodes to a promise; make it return the payload itself";
      throw new DelayQueueError('INVALID_PAYLOAD', problem);
    }
  }
}
