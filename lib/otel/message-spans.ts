import {
  type Attributes,
  context,
  type Context,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import type { HandlingOutcome, OfferContext } from '../message/delay-queue-observer.js';
import type { DelayedMessage, MessageHeaders } from '../message/message.js';
import {
  addOperationType,
  addType,
  ATTEMPT,
  BATCH_SIZE,
  ERROR_TYPE,
  GROUP,
  LATENESS,
  MESSAGE_ID,
  OUTCOME,
  type QueueNames,
  SCOPE,
} from './attributes.js';
import { describeError, hasFailed } from './failures.js';

/** Where a handler's span belongs: `link`: in its own trace, which links to the offer's span; `parent`: in the offer's trace. */
export type HandlerTraces = 'link' | 'parent';

export interface BegunSpan<Result> {
  readonly context: Context;
  readonly end: (result: Result) => void;
}

/** Creates the spans of offers and handlers, and connects them through message headers. */
export class MessageSpans {
  readonly #tracer: Tracer = trace.getTracer(SCOPE);

  constructor(
    private readonly names: QueueNames,
    private readonly traces: HandlerTraces,
  ) {}

  /** Starts the span of an offer. `headers` carry the span's context; `end` takes the error, if any. */
  offer(
    offers: OfferContext,
  ): BegunSpan<{ readonly error: unknown } | undefined> & { readonly headers: MessageHeaders | undefined } {
    const given = offers.messages.map(({ headers }) => creationOf(headers).span).filter((span) => span !== undefined);
    const span = this.#startOffer(offers, given);
    const active = trace.setSpan(context.active(), span);
    return {
      context: active,
      headers: offers.carriesHeaders ? headersFrom(active, { mixes: given.length > 0 }) : undefined,
      end: (failure) => {
        if (failure) recordError(span, failure.error);
        span.end();
      },
    };
  }

  handle(message: DelayedMessage): BegunSpan<HandlingOutcome> {
    const creation = creationOf(message.headers);
    const attributes = addMessage(this.#ofProcess(message.queue), message);
    attributes[ATTEMPT] = message.attempt;
    attributes[LATENESS] = message.lateness / 1000;
    const parent = this.traces === 'parent' ? creation.context : withBaggageOf(creation.context);
    const links = this.traces === 'link' && creation.span ? [{ context: creation.span }] : [];
    const span = this.#startProcess(message.queue, { attributes, links, parent });
    return {
      context: trace.setSpan(parent, span),
      end: (outcome) => {
        span.setAttribute(OUTCOME, outcome.kind);
        if (hasFailed(outcome)) recordError(span, outcome.error);
        span.end();
      },
    };
  }

  /** Links a call's span to each message's span. A span has only one parent and a handler only one baggage, so a batch sets neither. */
  handleBatch(messages: readonly DelayedMessage[]): BegunSpan<readonly HandlingOutcome[]> {
    const { queue } = messages[0]!;
    const links = messages.flatMap((message) => linkTo(message) ?? []);
    const attributes = this.#ofProcess(queue);
    attributes[BATCH_SIZE] = messages.length;
    const span = this.#startProcess(queue, { attributes, links, parent: ROOT_CONTEXT });
    return {
      context: trace.setSpan(ROOT_CONTEXT, span),
      end: (outcomes) => {
        recordErrors(span, outcomes);
        span.end();
      },
    };
  }

  #startOffer({ queue, messages }: OfferContext, given: readonly SpanContext[]): Span {
    const [first] = messages;
    const attributes = addOperationType(this.names.ofSpan(queue), 'offer');
    if (first && messages.length === 1) addMessage(attributes, first);
    else attributes[BATCH_SIZE] = messages.length;
    const links = given.map((creation) => ({ context: creation }));
    const options = { kind: SpanKind.PRODUCER, attributes, links };
    return this.#tracer.startSpan(`offer ${this.names.inSpanName(queue)}`, options);
  }

  #startProcess(
    queue: string,
    { parent, ...options }: { readonly attributes: Attributes; readonly links: Link[]; readonly parent: Context },
  ): Span {
    const name = `process ${this.names.inSpanName(queue)}`;
    return this.#tracer.startSpan(name, { kind: SpanKind.CONSUMER, ...options }, parent);
  }

  #ofProcess(queue: string): Attributes {
    return addOperationType(this.names.ofSpan(queue), 'process');
  }
}

/** Returns the context in which a message was created, read from its headers. */
function creationOf(headers: MessageHeaders): { readonly context: Context; readonly span: SpanContext | undefined } {
  const created = propagation.extract(ROOT_CONTEXT, headers);
  return { context: created, span: trace.getSpanContext(created) };
}

/** Returns a context with another context's baggage, but without its span. */
function withBaggageOf(created: Context): Context {
  const baggage = propagation.getBaggage(created);
  return baggage ? propagation.setBaggage(ROOT_CONTEXT, baggage) : ROOT_CONTEXT;
}

/**
 * Returns headers that carry the context and baggage of an offer's span.
 * @param mixes - true if some of the messages have the user's own `traceparent`, which takes precedence
 */
function headersFrom(active: Context, { mixes }: { readonly mixes: boolean }): MessageHeaders | undefined {
  const carrier: Record<string, string> = {};
  propagation.inject(active, carrier);
  // In a message with the user's own `traceparent`, this `tracestate` would belong to another trace.
  if (mixes) delete carrier.tracestate;
  // A message without headers is smaller.
  return Object.keys(carrier).length > 0 ? carrier : undefined;
}

interface Described {
  readonly id: string;
  readonly type: string;
  readonly group?: string | undefined;
}

function addMessage(attributes: Attributes, { id, type, group }: Described): Attributes {
  attributes[MESSAGE_ID] = id;
  if (group !== undefined) attributes[GROUP] = group;
  return addType(attributes, type);
}

function linkTo(message: DelayedMessage): Link | undefined {
  const { span } = creationOf(message.headers);
  return span && { context: span, attributes: addMessage({}, message) };
}

function recordError(span: Span, error: unknown): void {
  const { name, message } = recordException(span, error);
  span.setAttribute(ERROR_TYPE, name);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** Records each error once, even if several messages share it. */
function recordErrors(span: Span, outcomes: readonly HandlingOutcome[]): void {
  const failed = outcomes.filter(hasFailed);
  const [first] = failed;
  if (!first) return;
  for (const error of new Set(failed.map((outcome) => outcome.error))) recordException(span, error);
  span.setAttribute(ERROR_TYPE, describeError(first.error).name);
  span.setStatus({ code: SpanStatusCode.ERROR, message: `${failed.length} of ${outcomes.length} messages failed` });
}

function recordException(span: Span, error: unknown): ReturnType<typeof describeError> {
  const failure = describeError(error);
  span.recordException(failure);
  return failure;
}
