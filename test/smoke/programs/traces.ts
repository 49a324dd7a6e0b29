// A shop that traces with OpenTelemetry, and tells which spans it has made. It is compiled and run where the packed package is
// installed, with the newest SDK and with the first one that the package supports.
import 'reflect-metadata';
import { context, propagation, trace, type TracerProvider } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayedHandler, DelayQueueModule, DelayQueueProducer } from 'nestjs-delay-queue';
import { observeQueues, openTelemetry } from 'nestjs-delay-queue/otel';

const { REDIS_URL = '', QUEUE = '' } = process.env;

/** The fields in which the first and the second version of the SDK keep the parent of a span. */
interface WithParent {
  readonly parentSpanId?: string;
  readonly parentSpanContext?: { readonly spanId: string };
}

interface WithProcessors {
  addSpanProcessor(processor: SpanProcessor): void;
}

const exporter = new InMemorySpanExporter();

function startSdk(): void {
  const processor = new SimpleSpanProcessor(exporter);
  const settings: object = { spanProcessors: [processor] };
  const provider: TracerProvider = new BasicTracerProvider(settings);
  // The first version of the SDK takes it afterwards.
  (provider as Partial<WithProcessors>).addSpanProcessor?.(processor);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
}

@Injectable()
class Clerk {
  #resolve!: () => void;
  readonly handled = new Promise<void>((resolve) => (this.#resolve = resolve));

  @DelayedHandler(QUEUE)
  async cancelUnpaid(): Promise<void> {
    await Promise.resolve();
    trace.getTracer('shop').startSpan('GET /payments').end();
    this.#resolve();
  }
}

@Module({
  imports: [DelayQueueModule.forRoot({ connection: REDIS_URL, observers: [openTelemetry()] })],
  providers: [Clerk],
})
class AppModule {}

/** The spans by name, each with the names of its parent and of what it is linked to. */
function toldSpans(): object {
  const spans = exporter.getFinishedSpans();
  const nameOf = (span: { readonly name: string }) => span.name.replace(QUEUE, 'orders');
  const names = new Map(spans.map((span) => [span.spanContext().spanId, nameOf(span)]));
  const reported = spans.map((span) => {
    const { parentSpanId, parentSpanContext } = span as WithParent;
    const parent = names.get(parentSpanContext?.spanId ?? parentSpanId ?? '') ?? null;
    return [nameOf(span), { parent, links: span.links.map((link) => names.get(link.context.spanId)) }];
  });
  return Object.fromEntries(reported) as object;
}

async function main(): Promise<void> {
  startSdk();
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  observeQueues(app, [QUEUE]);
  const request = trace.getTracer('shop').startSpan('POST /orders');
  await context.with(trace.setSpan(context.active(), request), () =>
    app.get(DelayQueueProducer).offer(QUEUE, { orderId: 7 }, 50),
  );
  request.end();
  await app.get(Clerk).handled;
  await app.close();
  console.log(JSON.stringify(toldSpans()));
}

void main();
