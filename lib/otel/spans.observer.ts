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
import type { DelayQueueObserver, HandlingOutcome, OfferContext } from '../events/delay-queue-observer.js';
import type { DelayedMessage, MessageHeaders } from '../message/message.js';
import {
  ATTEMPT,
  BATCH_SIZE,
  ERROR_TYPE,
  LATENESS,
  MESSAGE_ID,
  OFFER,
  ofType,
  OUTCOME,
  PROCESS,
  type QueueNames,
  SCOPE,
} from './attributes.js';
import { describeError, hasFailed } from './failures.js';
import { onceDone } from './once-done.js';

/** Where the span of a handler belongs: to a trace of its own that is linked to the offer's, or to the offer's trace. */
export type HandlerTraces = 'link' | 'parent';

/** Makes spans of offers and handlers, which find each other by the headers of their messages. */
export class SpansObserver implements DelayQueueObserver {
  readonly #tracer: Tracer = trace.getTracer(SCOPE);

  constructor(
    private readonly names: QueueNames,
    private readonly traces: HandlerTraces,
  ) {}

  async offer(offers: OfferContext, next: (headers?: MessageHeaders) => Promise<unknown>): Promise<unknown> {
    const given = offers.messages.map(({ headers }) => creationOf(headers).span).filter((span) => span !== undefined);
    const span = this.#startOffer(offers, given);
    const active = trace.setSpan(context.active(), span);
    const headers = offers.carriesHeaders ? headersFor(offers, { active, given: given.length }) : undefined;
    try {
      return await context.with(active, () => next(headers));
    } catch (error) {
      recordError(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  handle(message: DelayedMessage, next: () => HandlingOutcome | Promise<HandlingOutcome>) {
    const creation = creationOf(message.headers);
    const attributes = { ...ofMessage(message), [ATTEMPT]: message.attempt, [LATENESS]: message.lateness / 1000 };
    // The baggage comes along in either case.
    const parent = this.traces === 'parent' ? creation.context : trace.deleteSpan(creation.context);
    const links = this.traces === 'link' && creation.span ? [{ context: creation.span }] : [];
    const span = this.#startProcess(message.queue, { attributes, links, parent });
    return onceDone(context.with(trace.setSpan(parent, span), next), (outcome) => {
      span.setAttribute(OUTCOME, outcome.kind);
      if (hasFailed(outcome)) recordError(span, outcome.error);
      span.end();
    });
  }

  /** A span has one parent, and a handler one baggage: a call with many messages has neither, but a link to each. */
  handleBatch(
    messages: readonly DelayedMessage[],
    next: () => readonly HandlingOutcome[] | Promise<readonly HandlingOutcome[]>,
  ) {
    const { queue } = messages[0]!;
    const links = messages.flatMap((message) => linkTo(message) ?? []);
    const attributes = { [BATCH_SIZE]: messages.length };
    const span = this.#startProcess(queue, { attributes, links, parent: ROOT_CONTEXT });
    return onceDone(context.with(trace.setSpan(ROOT_CONTEXT, span), next), (outcomes) => {
      recordErrors(span, outcomes);
      span.end();
    });
  }

  #startOffer({ queue, messages }: OfferContext, given: readonly SpanContext[]): Span {
    const [first] = messages;
    return this.#tracer.startSpan(`offer ${this.names.inSpanName(queue)}`, {
      kind: SpanKind.PRODUCER,
      attributes: {
        ...this.names.ofSpan(queue),
        ...OFFER,
        ...(first && messages.length === 1 ? ofMessage(first) : { [BATCH_SIZE]: messages.length }),
      },
      links: given.map((creation) => ({ context: creation })),
    });
  }

  #startProcess(
    queue: string,
    {
      attributes,
      links,
      parent,
    }: { readonly attributes: Attributes; readonly links: Link[]; readonly parent: Context },
  ): Span {
    const options = {
      kind: SpanKind.CONSUMER,
      attributes: { ...this.names.ofSpan(queue), ...PROCESS, ...attributes },
      links,
    };
    return this.#tracer.startSpan(`process ${this.names.inSpanName(queue)}`, options, parent);
  }
}

/** The context that a message was created in, as its headers tell. */
function creationOf(headers: MessageHeaders): { readonly context: Context; readonly span: SpanContext | undefined } {
  const created = propagation.extract(ROOT_CONTEXT, headers);
  return { context: created, span: trace.getSpanContext(created) };
}

/**
 * The headers that lead to the span of the offer, with the baggage.
 *
 * @param given - how many of the messages have such headers from their user, which count
 */
function headersFor(
  { messages }: OfferContext,
  { active, given }: { readonly active: Context; readonly given: number },
): MessageHeaders | undefined {
  const carrier: Record<string, string> = {};
  propagation.inject(given === messages.length ? trace.deleteSpan(active) : active, carrier);
  // Beside a traceparent of the user's it would be the state of another trace.
  if (given > 0) delete carrier.tracestate;
  // A message without headers is smaller.
  return Object.keys(carrier).length > 0 ? carrier : undefined;
}

function ofMessage({ id, type }: { readonly id: string; readonly type: string }): Attributes {
  return { [MESSAGE_ID]: id, ...ofType(type) };
}

function linkTo(message: DelayedMessage): Link | undefined {
  const { span } = creationOf(message.headers);
  return span && { context: span, attributes: ofMessage(message) };
}

function recordError(span: Span, error: unknown): void {
  const { name, message } = recordException(span, error);
  span.setAttribute(ERROR_TYPE, name);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** One failure of the handler may be that of all its messages. */
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
