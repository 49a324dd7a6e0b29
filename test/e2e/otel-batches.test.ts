import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { Injectable } from '@nestjs/common';
import { DelayedHandler, type DelayQueueObserver, type HandlingOutcome } from '../../lib/index.js';
import { openTelemetry } from '../../lib/otel/index.js';
import { messageOf } from '../support/otel/message-of.js';
import { Telemetry } from '../support/otel/telemetry.js';
import { startTestApp } from '../support/test-app.js';

let telemetry: Telemetry;

beforeEach(() => {
  telemetry = new Telemetry();
  telemetry.register();
});

afterEach(() => telemetry.unregister());

const TRACES = ['0af7651916cd43dd8448eb211c80319c', '1af7651916cd43dd8448eb211c80319c'] as const;
const SPAN = 'b7ad6b7169203331';

const MESSAGES = [
  messageOf('a', { traceparent: `00-${TRACES[0]}-${SPAN}-01`, baggage: 'tenant=acme' }),
  messageOf('b', { traceparent: `00-${TRACES[1]}-${SPAN}-01`, baggage: 'tenant=other' }),
  messageOf('c'),
];

type Handle = () => readonly HandlingOutcome[] | Promise<readonly HandlingOutcome[]>;

async function handleBatch(handle: Handle, observer: DelayQueueObserver = openTelemetry()) {
  await observer.handleBatch!(MESSAGES, handle);
  return telemetry.spans[0]!;
}

const ACK: HandlingOutcome = { kind: 'ack' };
const acknowledge: Handle = () => MESSAGES.map(() => ACK);

describe('the span of a call with many messages', () => {
  test.each(['link', 'parent'] as const)(
    "is the only span and links to each message that has a trace, with traces: '%s'",
    async (traces) => {
      const span = await handleBatch(acknowledge, openTelemetry({ traces }));
      expect(telemetry.spans).toHaveLength(1);
      expect(span).toMatchObject({ name: 'process orders', kind: SpanKind.CONSUMER, parentSpanContext: undefined });
      expect(span.links).toMatchObject([
        { context: { traceId: TRACES[0], spanId: SPAN }, attributes: { 'messaging.message.id': 'a' } },
        { context: { traceId: TRACES[1], spanId: SPAN }, attributes: { 'messaging.message.id': 'b' } },
      ]);
      expect(span.attributes).toEqual({
        'messaging.system': 'delay_queue',
        'messaging.destination.name': 'orders',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.batch.message_count': 3,
      });
    },
  );

  test('is active in the handler, without any baggage', async () => {
    let seen: unknown;
    const baggage = propagation.setBaggage(ROOT_CONTEXT, propagation.createBaggage({ user: { value: 'ada' } }));
    const request = trace.setSpan(baggage, trace.getTracer('shop').startSpan('POST /orders'));
    const span = await context.with(request, () =>
      handleBatch(async () => {
        await Promise.resolve();
        seen = [trace.getActiveSpan()?.spanContext(), propagation.getActiveBaggage()];
        return acknowledge();
      }),
    );
    expect(seen).toEqual([span.spanContext(), undefined]);
  });

  test('has the number of failed messages and each distinct error once', async () => {
    const common = new TypeError('no database');
    const span = await handleBatch(() => [
      { kind: 'retry', delay: 1, error: common },
      { kind: 'dead', error: common },
      { kind: 'dead', error: new RangeError('too much') },
    ]);
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR, message: '3 of 3 messages failed' });
    expect(span.attributes).toMatchObject({ 'error.type': 'TypeError' });
    expect(span.events.map(({ attributes }) => attributes?.['exception.message'])).toEqual(['no database', 'too much']);
  });
});

test('messages offered together and handled in one call share one offer span and one process span', async () => {
  @Injectable()
  class BatchHandler {
    @DelayedHandler('orders', { batch: 3, batchWait: '1s' })
    handleMany(payloads: unknown[]): void {
      expect(payloads).toHaveLength(3);
    }
  }
  const app = await startTestApp({ store: 'memory', observers: [openTelemetry()] }, { providers: [BatchHandler] });
  await app.producer.offerMany(
    'orders',
    [1, 2, 3].map((payload) => ({ payload, delay: 0 })),
  );
  const [[offered], [handled]] = await Promise.all([
    telemetry.untilSpans('offer orders', 1),
    telemetry.untilSpans('process orders', 1),
  ]);
  await app.close();
  const { spanId } = offered!.spanContext();
  expect(handled!.links.map((link) => link.context.spanId)).toEqual([spanId, spanId, spanId]);
  expect(handled!.status.code).toBe(SpanStatusCode.UNSET);
  expect(telemetry.spans).toHaveLength(2);
});

describe('the metrics of a call with many messages', () => {
  const processed = {
    'messaging.system': 'delay_queue',
    'messaging.destination.name': 'orders',
    'messaging.operation.name': 'process',
  };
  const type = { 'delay_queue.message.type': 't' };
  const call = { ...processed, 'messaging.operation.type': 'process' };

  test('count each message with its own outcome, and the call once', async () => {
    await handleBatch(() => [ACK, ACK, { kind: 'retry', delay: 1, error: new TypeError() }]);
    const failed = { 'delay_queue.message.outcome': 'retry', 'error.type': 'TypeError' };
    expect(await telemetry.points('messaging.client.consumed.messages')).toEqual([
      { attributes: { ...processed, ...type, 'delay_queue.message.outcome': 'ack' }, value: 2 },
      { attributes: { ...processed, ...type, ...failed }, value: 1 },
    ]);
    expect(await telemetry.points('messaging.process.duration')).toMatchObject([
      {
        attributes: { ...call, 'delay_queue.message.outcome': 'mixed', 'error.type': 'TypeError' },
        value: { count: 1 },
      },
    ]);
    expect(await telemetry.points('delay_queue.message.lateness')).toMatchObject([
      { attributes: { 'messaging.destination.name': 'orders', ...type }, value: { count: 3, sum: 0.06 } },
    ]);
  });

  test('have the outcome of the call if all messages share it', async () => {
    await handleBatch(acknowledge);
    expect(await telemetry.points('messaging.process.duration')).toMatchObject([
      { attributes: { ...call, 'delay_queue.message.outcome': 'ack' }, value: { count: 1 } },
    ]);
  });
});
