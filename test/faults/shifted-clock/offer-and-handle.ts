/** A process that offers a message, handles it, and reports when, by its own wrong clock and by elapsed time. */
import 'reflect-metadata';
import type { DelayQueueModuleOptions } from '../../../lib/index.js';
import { Handled } from '../../support/handled.js';
import { handlerOf, startTestApp } from '../../support/test-app.js';

export interface Settings {
  readonly module: DelayQueueModuleOptions;
  readonly queue: string;
  readonly delay: number;
  /** How wrong the wall clock is, ms. */
  readonly shift: number;
}

export interface Report {
  /** The time by the process' own clock. */
  readonly clock: number;
  /** By the store's clock. */
  readonly dueAt: number;
  /** How long the message took from its offer to its handler, ms. */
  readonly took: number;
}

const { module, queue, delay } = JSON.parse(process.argv[2] ?? '') as Settings;
const handled = new Handled();
const app = await startTestApp(module, { providers: [handlerOf(queue, handled.record)] });
// A later message first, so that the timer is armed.
await app.producer.offer(queue, null, '1h');
const clock = Date.now();
const start = performance.now();
const { id, dueAt } = await app.producer.offer(queue, null, delay);
await handled.until(id);
const took = performance.now() - start;
await app.close();
console.log(JSON.stringify({ clock, dueAt: dueAt.getTime(), took } satisfies Report));
