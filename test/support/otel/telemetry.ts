import { type Attributes, context, metrics, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { until } from '../until.js';

/** Longer than any test. */
const NEVER = 1_000_000;

/** A measurement under some attributes: a number, or a count of values and their sum. */
export interface Point {
  readonly attributes: Attributes;
  readonly value: number | { readonly count: number; readonly sum?: number };
}

/** The SDK of OpenTelemetry, registered as an application does it, with what it has exported. */
export class Telemetry {
  readonly #spans = new InMemorySpanExporter();
  readonly #tracers: BasicTracerProvider;
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #reader = new PeriodicExportingMetricReader({ exporter: this.#metrics, exportIntervalMillis: NEVER });
  readonly #meters = new MeterProvider({ readers: [this.#reader] });

  /** @param exports - whether it exports the spans. Default: true. */
  constructor({ exports = true }: { readonly exports?: boolean } = {}) {
    this.#tracers = new BasicTracerProvider({ spanProcessors: exports ? [new SimpleSpanProcessor(this.#spans)] : [] });
  }

  register(): void {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(
      new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
    );
    trace.setGlobalTracerProvider(this.#tracers);
    metrics.setGlobalMeterProvider(this.#meters);
  }

  async unregister(): Promise<void> {
    for (const api of [context, propagation, trace, metrics]) api.disable();
    await this.#meters.shutdown();
  }

  /** The spans that have ended so far, in this order. */
  get spans(): readonly ReadableSpan[] {
    return this.#spans.getFinishedSpans();
  }

  /** Waits for spans of a name. */
  async untilSpans(name: string, count: number): Promise<ReadableSpan[]> {
    const found = () => this.spans.filter((span) => span.name === name);
    await until(() => found().length >= count);
    return found();
  }

  /** Collects the metrics. */
  async metrics(): Promise<readonly MetricData[]> {
    await this.#reader.forceFlush();
    const scopes = this.#metrics.getMetrics().at(-1)?.scopeMetrics ?? [];
    return scopes.flatMap((scope) => scope.metrics);
  }

  /** Collects one metric. */
  async points(name: string): Promise<Point[]> {
    const found = (await this.metrics()).find(({ descriptor }) => descriptor.name === name);
    return (found?.dataPoints ?? []).map(({ attributes, value }) => ({ attributes, value }));
  }
}
