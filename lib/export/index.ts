/**
 * Exports whole queues as text, and imports them elsewhere. `docs/moving.md` explains how to move a queue.
 * @packageDocumentation
 */
import 'reflect-metadata';
export { DelayQueueExporter, type ImportOptions } from './delay-queue-exporter.js';
export type { ImportReport } from './queue-import.js';
