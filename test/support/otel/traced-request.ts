/** A process that handles a request of a shop: it offers messages within the span of that request, and tells of its spans. */
import 'reflect-metadata';
import { context, propagation, trace } from '@opentelemetry/api';
import { NestFactory } from '@nestjs/core';
import { DelayQueueModule, type DelayQueueModuleOptions, DelayQueueProducer } from '../../../lib/index.js';
import { openTelemetry } from '../../../lib/otel/index.js';
import { Telemetry } from './telemetry.js';

/** A span of the process. */
export interface TracedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string;
}

const { module, queue } = JSON.parse(process.argv[2] ?? '') as { module: DelayQueueModuleOptions; queue: string };

class RootModule {}

const telemetry = new Telemetry();
telemetry.register();
const root = { module: RootModule, imports: [DelayQueueModule.forRoot({ ...module, observers: [openTelemetry()] })] };
const app = await NestFactory.createApplicationContext(root, { logger: false });
const request = trace.getTracer('shop').startSpan('POST /orders');
const baggage = propagation.createBaggage({ tenant: { value: 'acme' } });
await context.with(trace.setSpan(propagation.setBaggage(context.active(), baggage), request), () =>
  app.get(DelayQueueProducer).offer(queue, { order: 7 }, 50, { id: 'order-7', type: 'cancel' }),
);
request.end();
await app.close();
const spans: TracedSpan[] = telemetry.spans.map((span) => ({
  name: span.name,
  traceId: span.spanContext().traceId,
  spanId: span.spanContext().spanId,
  ...(span.parentSpanContext && { parentId: span.parentSpanContext.spanId }),
}));
console.log(JSON.stringify(spans));
