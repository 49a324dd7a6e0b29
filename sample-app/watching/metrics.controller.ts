import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Get, type OnApplicationBootstrap, Req, Res } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { observeQueues } from 'nestjs-delay-queue/otel';
import { WATCHED_QUEUES } from './watched-queues.js';

/** What OpenTelemetry has measured, in the form that Prometheus reads. */
@Controller('metrics')
export class MetricsController implements OnApplicationBootstrap {
  readonly #exporter = new PrometheusExporter({ preventServerStart: true });

  constructor(private readonly modules: ModuleRef) {
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [this.#exporter] }));
  }

  onApplicationBootstrap(): void {
    observeQueues(this.modules, WATCHED_QUEUES);
  }

  @Get()
  show(@Req() request: IncomingMessage, @Res() response: ServerResponse): void {
    this.#exporter.getMetricsRequestHandler(request, response);
  }
}
