import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Get, type OnApplicationBootstrap, Req, Res } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { DelayQueueProducer } from 'nestjs-delay-queue';
import { observeQueues } from 'nestjs-delay-queue/otel';

/** What OpenTelemetry has measured, in the form that Prometheus reads. */
@Controller('metrics')
export class MetricsController implements OnApplicationBootstrap {
  readonly #exporter = new PrometheusExporter({ preventServerStart: true });

  constructor(private readonly producer: DelayQueueProducer) {
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [this.#exporter] }));
  }

  onApplicationBootstrap(): void {
    observeQueues(this.producer, ['orders', 'tasks']);
  }

  @Get()
  show(@Req() request: IncomingMessage, @Res() response: ServerResponse): void {
    this.#exporter.getMetricsRequestHandler(request, response);
  }
}
