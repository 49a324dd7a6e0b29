import { setTimeout as sleep } from 'node:timers/promises';
import { RedisMeter } from '../measure/redis-meter.js';
import type { Stage } from '../measure/stage.js';
import type { Scenario } from './scenario.js';

const LIGHT = { rate: 400, seconds: 5, delay: 500 };
const BUSY = { ...LIGHT, rate: 1_000 };
const STEADY = { ...LIGHT, rate: 2_000 };
/** Time for what is still under way after the last handler, ms. */
const REST = 200;
/** How long the idle servers are watched, s: servers of a cluster keep talking to each other. */
const QUIET = 3;

/** Cost of one queue for the servers of a cluster with three primaries. */
export const shards: Scenario = {
  name: 'shards',
  title: 'Cluster of 3 primaries',
  figures: [
    { key: 'light', title: "busiest server's CPU per message, 400 per second", unit: 'µs', better: 'less' },
    { key: 'steady', title: "busiest server's CPU per message, 2,000 per second", unit: 'µs', better: 'less' },
    { key: 'second', title: "second server's CPU per message, 2,000 per second", unit: 'µs', better: 'less' },
    { key: 'third', title: "third server's CPU per message, 2,000 per second", unit: 'µs', better: 'less' },
    { key: 'together', title: "all servers' CPU per message, 2,000 per second", unit: 'µs', better: 'less' },
    { key: 'commands', title: "all servers' commands per message, 2,000 per second", unit: '', better: 'less' },
    { key: 'late', title: 'p99 lateness, 1,000 per second', unit: 'ms', better: 'less' },
    { key: 'offer', title: "all servers' CPU per offer, 100 in flight", unit: 'µs', better: 'less' },
    { key: 'drain', title: "busiest server's CPU per message, drain of a backlog", unit: 'µs', better: 'less' },
    { key: 'balance', title: "busiest server's CPU ÷ mean, drain of a backlog", unit: '', better: 'less' },
  ],
  suits: ({ name }) => name === 'ours' || name === 'earlier' || name.startsWith('partitions-'),
  cluster: true,
  onRequest: true,

  async measure(stage) {
    const count = stage.pick({ quick: 20_000, full: 100_000 });
    const { producer, consumer } = await stage.startBoth();
    await sleep(1_000);
    const quiet = (await work(stage, () => sleep(QUIET * 1_000))).cpu.map((cpu) => cpu / QUIET);

    const atRate = async (schedule: typeof LIGHT) => {
      const done = await work(stage, async () => {
        const { offered } = await producer.ask('offerAtRate', schedule);
        await consumer.ask('handled', { count: offered });
      });
      await consumer.ask('reset');
      const count = schedule.rate * schedule.seconds;
      return { cpu: without(quiet, done).map((cpu) => cpu / count), commands: done.calls / count };
    };
    const light = await atRate(LIGHT);
    const steady = await atRate(STEADY);
    const [busiest, second, third] = steady.cpu.sort((one, other) => other - one);
    const busy = await producer.ask('offerAtRate', BUSY);
    const { lateness } = await consumer.ask('handled', { count: busy.offered });
    await consumer.end();

    const offers = await work(stage, () => producer.ask('offerInFlight', { count, inFlight: 100, delay: 1 }));
    await producer.end();

    const late = await stage.startConsumer();
    const drain = await work(stage, async () => {
      await late.ask('start');
      await late.ask('handled', { count });
      await sleep(REST);
    });
    const drained = without(quiet, drain);
    return {
      light: Math.max(...light.cpu),
      steady: busiest!,
      second: second!,
      third: third!,
      together: sum(steady.cpu),
      commands: steady.commands,
      late: lateness.p99,
      offer: sum(without(quiet, offers)) / count,
      drain: Math.max(...drained) / count,
      balance: Math.max(...drained) / (sum(drained) / drained.length),
    };
  },
};

/** Work of each server. */
interface Work {
  /** Microseconds of processor time. */
  readonly cpu: readonly number[];
  /** Commands of all servers, including those that functions call. */
  readonly calls: number;
  readonly seconds: number;
}

async function work({ primaries }: Stage, run: () => Promise<unknown>): Promise<Work> {
  const meters = await Promise.all(primaries.map((redis) => RedisMeter.start(redis)));
  const start = performance.now();
  await run();
  const seconds = (performance.now() - start) / 1_000;
  const works = await Promise.all(meters.map((meter) => meter.stop()));
  return { cpu: works.map(({ cpu }) => cpu), calls: sum(works.map(({ calls }) => calls)), seconds };
}

/** @param quiet - what each server does in a second while nothing happens, µs */
function without(quiet: readonly number[], { cpu, seconds }: Work): number[] {
  return cpu.map((all, i) => all - quiet[i]! * seconds);
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);
