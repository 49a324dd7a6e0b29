import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Distribution, distributionOf } from '../../bench/src/measure/percentiles.js';
import {
  DelayedHandler,
  type DelayedMessage,
  DelayQueueModule,
  DelayQueueProducer,
  getDelayQueueProducerToken,
} from '../../lib/index.js';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { startRoot, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

/** How long it takes in all: `INSTANCES_MINUTES=10 npm run test:load -- test/load/instances` for a long one. */
const MINUTES = Number(process.env.INSTANCES_MINUTES ?? 1);
/** Calm and faults take turns, so that what else the machine does strikes both. */
const WINDOW = 10_000;
const PER_SECOND = 100;
/** What a fault of another instance may add to the p99, and what a millisecond of the clock may. */
const TOLERANCE = { share: 1.2, ms: 1 };
const TIMEOUT = MINUTES * 60_000 + 120_000;

describe('faults of the Redis of one instance', () => {
  const main = new Scene({});
  const billing = new Scene({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
  let app: TestApp;
  const late = { calm: [] as number[], faults: [] as number[] };
  let now: keyof typeof late = 'calm';
  const seen = { main: new Set<string>(), billing: new Set<string>() };
  const faults: Record<string, number> = {};

  @Injectable()
  class Handlers {
    @DelayedHandler('orders')
    ofMain(_payload: unknown, { id, lateness }: DelayedMessage): void {
      late[now].push(lateness);
      seen.main.add(id);
    }

    @DelayedHandler('orders', { instance: 'billing', lease: '2s', attempts: 100 })
    ofBilling(_payload: unknown, { id }: DelayedMessage): void {
      seen.billing.add(id);
    }
  }

  beforeAll(async () => {
    app = await startRoot({
      module: class {},
      imports: [
        DelayQueueModule.forRoot({ connection: main.url }),
        DelayQueueModule.forRoot({ name: 'billing', connection: billing.url, offerTimeout: '1s' }),
      ],
      providers: [Handlers],
    });
  });
  afterAll(() => app?.close());

  const FAULTS: readonly [name: string, strike: () => Promise<unknown>][] = [
    [
      'frozen',
      () =>
        billing.server
          .freeze()
          .then(() => sleep(1500))
          .then(() => billing.server.thaw()),
    ],
    [
      'killed',
      () =>
        billing.server
          .kill9()
          .then(() => sleep(1000))
          .then(() => billing.server.restart()),
    ],
    ['connections killed', () => billing.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')],
    ['writes paused', () => billing.redis.call('CLIENT', 'PAUSE', '1000', 'WRITE').then(() => sleep(1000))],
    [
      'out of memory',
      async () => {
        await billing.redis.config('SET', 'maxmemory', '1');
        await sleep(1000);
        await billing.redis.config('SET', 'maxmemory', '0');
      },
    ],
  ];

  /** Offers at a steady rate until it is told to stop; returns the ids that were acknowledged. */
  function offerSteadily(producer: DelayQueueProducer): { stop(): Promise<string[]> } {
    const acknowledged: string[] = [];
    const offers: Promise<unknown>[] = [];
    let sent = 0;
    const from = performance.now();
    const timer = setInterval(() => {
      for (; sent < ((performance.now() - from) / 1000) * PER_SECOND; sent++) {
        const id = `m${sent}`;
        const offer = producer.offer('orders', null, 200 + (sent % 7) * 100, { id });
        offers.push(offer.then(() => acknowledged.push(id)).catch(() => undefined));
      }
    }, 10);
    return {
      stop: async () => {
        clearInterval(timer);
        await Promise.all(offers);
        return acknowledged;
      },
    };
  }

  async function strikeFor(ms: number): Promise<void> {
    const end = performance.now() + ms;
    for (let i = 0; performance.now() < end; i++) {
      const [name, strike] = FAULTS[i % FAULTS.length]!;
      await strike();
      faults[name] = (faults[name] ?? 0) + 1;
      await sleep(500);
    }
  }

  const show = ({ count, p50, p99, max }: Distribution) =>
    `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, most ${max.toFixed(1)} ms (${count} messages)`;

  test(
    'leave the lateness of another as it is, and lose nothing of either',
    async () => {
      const producer = app.context.get<DelayQueueProducer>(getDelayQueueProducerToken('billing'), { strict: false });
      const streams = { main: offerSteadily(app.producer), billing: offerSteadily(producer) };
      await sleep(3000);
      late.calm = [];
      for (const end = performance.now() + MINUTES * 60_000; performance.now() < end;) {
        now = 'calm';
        await sleep(WINDOW);
        now = 'faults';
        await strikeFor(WINDOW);
      }
      const [ofMain, ofBilling] = await Promise.all([streams.main.stop(), streams.billing.stop()]);
      await until(() => isEmpty(app.producer, 'orders'), { within: 20_000, every: 50 });
      await until(() => isEmpty(producer, 'orders'), { within: 60_000, every: 50 });
      const [calm, inFaults] = [distributionOf(late.calm), distributionOf(late.faults)];
      console.log(`calm: ${show(calm)}; faults: ${show(inFaults)}; ${JSON.stringify(faults)}`);
      expect(ofMain.filter((id) => !seen.main.has(id))).toEqual([]);
      expect(ofBilling.filter((id) => !seen.billing.has(id))).toEqual([]);
      expect(inFaults.p99).toBeLessThanOrEqual(TOLERANCE.share * calm.p99 + TOLERANCE.ms);
    },
    TIMEOUT,
  );
});
