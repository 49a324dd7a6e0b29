import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { context, createTraceState, propagation, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { DelayQueueError, type DelayQueueModuleOptions, RejectMessage } from '../../lib/index.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { openTelemetry, type OpenTelemetryOptions } from '../../lib/otel/index.js';
import { Handled } from '../support/handled.js';
import { messageOf } from '../support/otel/message-of.js';
import { Telemetry } from '../support/otel/telemetry.js';
import type { TracedSpan } from '../support/otel/traced-request.js';
import { runProgram } from '../support/run-program.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';

const FOREIGN_TRACE = '0af7651916cd43dd8448eb211c80319c';
const FOREIGN_PARENT = `00-${FOREIGN_TRACE}-b7ad6b7169203331-01`;

const scene = new Scene();
let telemetry: Telemetry;

beforeEach(() => {
  telemetry = new Telemetry();
  telemetry.register();
});

afterEach(() => telemetry.unregister());

interface AppOptions extends OpenTelemetryOptions {
  readonly handle?: () => unknown;
  readonly module?: DelayQueueModuleOptions;
}

/** An application in memory that observes a queue and handles it; three attempts, 1 ms apart. */
async function startApp({ handle, module, ...options }: AppOptions = {}) {
  const queue = scene.newQueue();
  const handled = new Handled();
  const handler = handlerOf(queue, (payload, message) => {
    handled.record(payload, message);
    return handle?.();
  });
  const defaults = { attempts: 3, backoff: { type: 'fixed', delay: 1 } } as const;
  const app = await scene.startApp({
    module: { store: 'memory', defaults, observers: [openTelemetry(options)], ...module },
    providers: [handler],
  });
  return { queue, handled, ...app };
}

const traceOf = (span: ReadableSpan | Span) => span.spanContext().traceId;
const linkedTo = ({ links }: ReadableSpan) => links.map((link) => link.context.spanId);
const parentOf = ({ parentSpanContext }: ReadableSpan) => parentSpanContext?.spanId;

/** Runs a function within a span, as the handler of a request would. */
async function withinRequest(work: () => Promise<unknown>): Promise<Span> {
  const request = trace.getTracer('shop').startSpan('POST /orders');
  await context.with(trace.setSpan(context.active(), request), work);
  request.end();
  return request;
}

describe('a message offered in one process and handled in another', () => {
  test("links its handler's trace, with the calls made there, to the request that offered it, and carries the baggage", async () => {
    const undici = new UndiciInstrumentation();
    const requests: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      requests.push(request.headers.traceparent as string | undefined);
      response.end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      let tenant: string | undefined;
      const handle = async () => {
        tenant = propagation.getActiveBaggage()?.getEntry('tenant')?.value;
        await fetch(`http://127.0.0.1:${port}/refunds`);
      };
      const module: DelayQueueModuleOptions = { store: 'redis', observers: [openTelemetry()] };
      const { queue } = await startApp({ handle, module });
      const settings = { queue, module: { connection: scene.url, prefix: scene.prefix } };

      const [offer, request] = await runProgram<TracedSpan[]>('./otel/traced-request.ts', settings);

      const [handled] = await telemetry.untilSpans(`process ${queue}`, 1);
      expect(offer).toMatchObject({ name: `offer ${queue}`, traceId: request!.traceId, parentId: request!.spanId });
      expect(parentOf(handled!)).toBeUndefined();
      expect(traceOf(handled!)).not.toBe(offer!.traceId);
      expect(handled!.links).toMatchObject([{ context: { traceId: offer!.traceId, spanId: offer!.spanId } }]);
      const [call] = await telemetry.untilSpans('GET', 1);
      expect(parentOf(call!)).toBe(handled!.spanContext().spanId);
      expect(requests).toEqual([`00-${traceOf(handled!)}-${call!.spanContext().spanId}-01`]);
      expect(tenant).toBe('acme');
    } finally {
      undici.disable();
      server.close();
    }
  });
});

describe('the span of an offer', () => {
  test('is a producer span that names the message and is a child of the active span', async () => {
    const { queue, producer } = await startApp();
    const request = await withinRequest(() => producer.offer(queue, {}, '1h', { id: 'o-1', type: 'cancel' }));
    const [span] = await telemetry.untilSpans(`offer ${queue}`, 1);
    expect(span!.kind).toBe(SpanKind.PRODUCER);
    expect(parentOf(span!)).toBe(request.spanContext().spanId);
    expect(span!.attributes).toEqual({
      'messaging.system': 'delay_queue',
      'messaging.destination.name': queue,
      'messaging.operation.name': 'offer',
      'messaging.operation.type': 'send',
      'messaging.message.id': 'o-1',
      'delay_queue.message.type': 'cancel',
    });
  });

  test("names the message's group, as does the span of its handler", async () => {
    const defaults = { groups: { concurrency: 1 } };
    const { queue, producer } = await startApp({ module: { defaults } });
    await producer.offer(queue, {}, 0, { group: 'customer-7' });
    for (const name of [`offer ${queue}`, `process ${queue}`]) {
      const [span] = await telemetry.untilSpans(name, 1);
      expect(span!.attributes).toMatchObject({ 'delay_queue.message.group': 'customer-7' });
    }
  });

  test('has the number of messages in a list', async () => {
    const { queue, handled, producer } = await startApp();
    await producer.offerMany(queue, [
      { payload: 1, delay: 0 },
      { payload: 2, delay: 0 },
    ]);
    await handled.untilCalls(2);
    const [span, ...others] = await telemetry.untilSpans(`offer ${queue}`, 1);
    const attempts = await telemetry.untilSpans(`process ${queue}`, 2);
    expect(others).toEqual([]);
    expect(span!.attributes).toMatchObject({ 'messaging.batch.message_count': 2 });
    expect(span!.attributes).not.toHaveProperty('messaging.message.id');
    expect(attempts.map(linkedTo)).toEqual([[span!.spanContext().spanId], [span!.spanContext().spanId]]);
  });

  test('has the reason for a refusal, and the caller gets the same error', async () => {
    const { queue, producer } = await startApp();
    await producer.offer(queue, {}, '1h', { id: 'o-1' });
    const offer = producer.offer(queue, {}, '1h', { id: 'o-1', onDuplicate: 'reject' });
    await expect(offer).rejects.toBeInstanceOf(DelayQueueError);
    const [, span] = await telemetry.untilSpans(`offer ${queue}`, 2);
    expect(span!.attributes).toMatchObject({ 'error.type': 'DUPLICATE_MESSAGE' });
    expect(span!.status).toMatchObject({ code: SpanStatusCode.ERROR });
    expect(span!.events.map(({ name }) => name)).toEqual(['exception']);
  });
});

describe('the span of an attempt', () => {
  test('is a consumer span, active in the handler, and names the message, its attempt and its outcome', async () => {
    let active: Span | undefined;
    const { queue, producer } = await startApp({ handle: () => void (active = trace.getActiveSpan()) });
    await producer.offer(queue, {}, 0, { id: 'o-1', type: 'cancel' });
    const [span] = await telemetry.untilSpans(`process ${queue}`, 1);
    expect(span!.kind).toBe(SpanKind.CONSUMER);
    expect(active!.spanContext()).toEqual(span!.spanContext());
    expect(span!.attributes).toEqual({
      'messaging.system': 'delay_queue',
      'messaging.destination.name': queue,
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.message.id': 'o-1',
      'delay_queue.message.type': 'cancel',
      'delay_queue.message.attempt': 1,
      'delay_queue.message.lateness': expect.any(Number),
      'delay_queue.message.outcome': 'ack',
    });
  });

  test('is the root of a separate trace and links to the offer, for each attempt', async () => {
    class PaymentDeclined extends Error {}
    const { queue, producer } = await startApp({ handle: () => Promise.reject(new PaymentDeclined('no money')) });
    await withinRequest(() => producer.offer(queue, {}, 0));
    const attempts = await telemetry.untilSpans(`process ${queue}`, 3);
    const [offer] = await telemetry.untilSpans(`offer ${queue}`, 1);
    expect(attempts.map(parentOf)).toEqual([undefined, undefined, undefined]);
    expect(new Set([...attempts, offer!].map(traceOf)).size).toBe(4);
    expect(attempts.map(linkedTo)).toEqual(attempts.map(() => [offer!.spanContext().spanId]));
    const reported = attempts.map(({ attributes, status }) => [
      attributes['delay_queue.message.attempt'],
      attributes['delay_queue.message.outcome'],
      attributes['error.type'],
      status,
    ]);
    const failed = { code: SpanStatusCode.ERROR, message: 'no money' };
    expect(reported).toEqual([
      [1, 'retry', 'PaymentDeclined', failed],
      [2, 'retry', 'PaymentDeclined', failed],
      [3, 'dead', 'PaymentDeclined', failed],
    ]);
    expect(attempts[0]!.events).toMatchObject([
      { name: 'exception', attributes: { 'exception.type': 'PaymentDeclined', 'exception.message': 'no money' } },
    ]);
  });

  test("is a child of the offer's span with traces: 'parent'", async () => {
    const handle = () => {
      throw new RejectMessage('never');
    };
    const { queue, producer } = await startApp({ traces: 'parent', handle });
    const request = await withinRequest(() => producer.offer(queue, {}, 0));
    const [attempt] = await telemetry.untilSpans(`process ${queue}`, 1);
    const [offer] = await telemetry.untilSpans(`offer ${queue}`, 1);
    expect(traceOf(attempt!)).toBe(traceOf(request));
    expect(parentOf(attempt!)).toBe(offer!.spanContext().spanId);
    expect(attempt!.links).toEqual([]);
  });

  test.each(['link', 'parent'] as const)(
    "ignores the context that is active where its message is claimed, with traces: '%s'",
    async (traces) => {
      let tenant: unknown;
      const baggage = propagation.createBaggage({ tenant: { value: 'acme' } });
      const handle = () => {
        tenant = propagation.getActiveBaggage()?.getEntry('tenant');
        return { kind: 'ack' } as const;
      };
      await withinRequest(() =>
        context.with(propagation.setBaggage(context.active(), baggage), async () => {
          const message = messageOf('o-1', { traceparent: 'malformed' });
          await openTelemetry({ traces }).handle!(message, handle);
        }),
      );
      const [attempt] = await telemetry.untilSpans('process orders', 1);
      expect([parentOf(attempt!), attempt!.links, tenant]).toEqual([undefined, [], undefined]);
    },
  );
});

test("spans and headers are absent with traces: 'none'", async () => {
  const { queue, handled, producer } = await startApp({ traces: 'none' });
  await withinRequest(() => producer.offer(queue, {}, 0));
  const { message } = await handled.untilCalls(1);
  expect(message.headers).toEqual({});
  expect(telemetry.spans.map(({ name }) => name)).toEqual(['POST /orders']);
});

test('a traceparent set by the user is kept, and both spans link to it', async () => {
  const { queue, handled, producer } = await startApp();
  const headers = { traceparent: FOREIGN_PARENT, tenant: 'acme' };
  const offer = () => producer.offer(queue, {}, 0, { headers });
  const state = trace.wrapSpanContext({
    traceId: FOREIGN_TRACE.replaceAll('0', '1'),
    spanId: 'b7ad6b7169203332',
    traceFlags: 1,
    traceState: createTraceState('vendor=other'),
  });
  await context.with(trace.setSpan(context.active(), state), offer);
  const { message } = await handled.untilCalls(1);
  expect(message.headers).toEqual(headers);
  const [[offered], [attempt]] = await Promise.all([
    telemetry.untilSpans(`offer ${queue}`, 1),
    telemetry.untilSpans(`process ${queue}`, 1),
  ]);
  const links = [{ context: { traceId: FOREIGN_TRACE, spanId: 'b7ad6b7169203331' } }];
  expect([offered!.links, attempt!.links]).toMatchObject([links, links]);
});

test('a list keeps the traceparents of the messages that have one', async () => {
  const { queue, handled, producer } = await startApp();
  await producer.offerMany(queue, [
    { id: 'own', payload: 1, delay: 0, headers: { traceparent: FOREIGN_PARENT } },
    { id: 'other', payload: 2, delay: 0 },
  ]);
  await handled.untilCalls(2);
  const [offer] = await telemetry.untilSpans(`offer ${queue}`, 1);
  const { traceId, spanId } = offer!.spanContext();
  expect(handled.of('own')[0]!.message.headers).toEqual({ traceparent: FOREIGN_PARENT });
  expect(handled.of('other')[0]!.message.headers).toEqual({ traceparent: `00-${traceId}-${spanId}-01` });
});

test.each(['link', 'parent'] as const)(
  "the baggage of an offer is passed to its handler with traces: '%s'",
  async (traces) => {
    const tenants: (string | undefined)[] = [];
    const handle = () => void tenants.push(propagation.getActiveBaggage()?.getEntry('tenant')?.value);
    const { queue, handled, producer } = await startApp({ traces, handle });
    const baggage = propagation.createBaggage({ tenant: { value: 'acme' } });
    await context.with(propagation.setBaggage(context.active(), baggage), () => producer.offer(queue, {}, 0));
    const { message } = await handled.untilCalls(1);
    expect(message.headers).toMatchObject({ baggage: 'tenant=acme' });
    expect(tenants).toEqual(['acme']);
  },
);

test("the spans of an offer and its attempt are not connected in Redisson's layout", async () => {
  const module: DelayQueueModuleOptions = {
    store: 'redis',
    defaults: { layout: redisson() },
    observers: [openTelemetry({ traces: 'parent' })],
  };
  const { queue, producer } = await startApp({ module });
  await withinRequest(() => producer.offer(queue, {}, 0));
  const [attempt] = await telemetry.untilSpans(`process ${queue}`, 1);
  expect([parentOf(attempt!), attempt!.links]).toEqual([undefined, []]);
  expect(await telemetry.untilSpans(`offer ${queue}`, 1)).toHaveLength(1);
});

test("spans are named after the queue's family", async () => {
  const queue = `tenant-${scene.newQueue()}`;
  const observers = [openTelemetry({ families: ['tenant-*', 'x-*'] })];
  const providers = [handlerOf('tenant-*', () => undefined)];
  const { producer } = await scene.startApp({ module: { store: 'memory', observers }, providers });
  await producer.offer(queue, {}, 0);
  const [attempt] = await telemetry.untilSpans('process tenant-*', 1);
  expect(attempt!.attributes).toMatchObject({
    'messaging.destination.name': queue,
    'messaging.destination.template': 'tenant-*',
  });
  expect(await telemetry.untilSpans('offer tenant-*', 1)).toHaveLength(1);
});

test.each([
  [{ traces: 'links' }, /traces must be 'link', 'parent' or 'none'/],
  [{ families: ['tenant'] }, /families\.0 .*beginning of their names followed by a \*/],
  [{ trace: 'link' }, /trace is not an option/],
])('the options %j are refused', (options, message) => {
  const refused = expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringMatching(message) });
  expect(() => openTelemetry(options as OpenTelemetryOptions)).toThrow(refused);
});
