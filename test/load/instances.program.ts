/**
 * An application with two instances, to both of which it offers at a steady rate. A line on its input begins a window; at the end of
 * the input it waits until all is handled, and prints what it knows.
 */
import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createInterface } from 'node:readline';
import {
  DelayedHandler,
  type DelayedMessage,
  DelayQueueModule,
  DelayQueueProducer,
  getDelayQueueProducerToken,
} from '../../lib/index.js';
import { isEmpty } from '../support/is-empty.js';
import { until } from '../support/until.js';

export interface InstancesReport {
  /** The lateness of the messages of the instance without a name, ms, by window. */
  readonly windows: readonly number[][];
  /** Messages whose offer was acknowledged and that were never handled, of both instances. */
  readonly lost: readonly string[];
  /** The number of acknowledged offers of each instance. */
  readonly acknowledged: readonly [number, number];
}

const PER_SECOND = 100;
const [mainUrl, billingUrl] = process.argv.slice(2) as [string, string];

const windows: number[][] = [[]];
const handled = { main: new Set<string>(), billing: new Set<string>() };

@Injectable()
class Handlers {
  @DelayedHandler('orders')
  ofMain(_payload: unknown, { id, lateness }: DelayedMessage): void {
    windows.at(-1)!.push(lateness);
    handled.main.add(id);
  }

  @DelayedHandler('orders', { instance: 'billing', lease: '2s', attempts: 100 })
  ofBilling(_payload: unknown, { id }: DelayedMessage): void {
    handled.billing.add(id);
  }
}

/** Offers until it is told to stop; returns the ids that were acknowledged. */
function offerSteadily(producer: DelayQueueProducer): () => Promise<string[]> {
  const acknowledged: string[] = [];
  const offers: Promise<unknown>[] = [];
  const from = performance.now();
  const timer = setInterval(() => {
    while (offers.length < ((performance.now() - from) / 1000) * PER_SECOND) {
      const id = `m${offers.length}`;
      const offer = producer.offer('orders', null, 200 + (offers.length % 7) * 100, { id });
      offers.push(offer.then(() => acknowledged.push(id)).catch(() => undefined));
    }
  }, 10);
  return async () => {
    clearInterval(timer);
    await Promise.all(offers);
    return acknowledged;
  };
}

const root = {
  module: class {},
  imports: [
    DelayQueueModule.forRoot({ connection: mainUrl }),
    DelayQueueModule.forRoot({ name: 'billing', connection: billingUrl, offerTimeout: '1s' }),
  ],
  providers: [Handlers],
};
const app = await NestFactory.createApplicationContext(root, { logger: false });
const main = app.get(DelayQueueProducer);
const billing = app.get<DelayQueueProducer>(getDelayQueueProducerToken('billing'));
const stops = [offerSteadily(main), offerSteadily(billing)];
console.log('ready');
for await (const _line of createInterface(process.stdin)) windows.push([]);

const [ofMain = [], ofBilling = []] = await Promise.all(stops.map((stop) => stop()));
for (const producer of [main, billing]) await until(() => isEmpty(producer, 'orders'), { within: 60_000, every: 50 });
await app.close();
const report: InstancesReport = {
  windows,
  lost: [
    ...ofMain.filter((id) => !handled.main.has(id)),
    ...ofBilling.filter((id) => !handled.billing.has(id)).map((id) => `billing ${id}`),
  ],
  acknowledged: [ofMain.length, ofBilling.length],
};
console.log(JSON.stringify(report));
