import { NodeSDK } from '@opentelemetry/sdk-node';

const exporter = process.env.OTEL_EXPORTER_OTLP_ENDPOINT ? 'otlp' : 'console';
process.env.OTEL_SERVICE_NAME ??= 'orders';
process.env.OTEL_TRACES_EXPORTER ??= exporter;
process.env.OTEL_METRICS_EXPORTER ??= exporter;
process.env.OTEL_LOGS_EXPORTER ??= 'none';

/** Imported first, so that it starts before the application. */
export const sdk = new NodeSDK();
sdk.start();
