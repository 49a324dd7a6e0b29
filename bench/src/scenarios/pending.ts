import { setTimeout as sleep } from 'node:timers/promises';
import { PingProbe } from '../measure/ping-probe.js';
import type { Stage } from '../measure/stage.js';
import type { SystemProcess } from '../process/system-process.js';
import type { Figure, Scenario } from './scenario.js';

const HOUR = 3_600_000;
const later = { from: HOUR, to: 3 * HOUR };
const SIZES = { quick: [1_000, 30_000], full: [1_000, 100_000, 300_000] };
const CALLERS = 100;
const AT_ONCE = 2_000;
const RATE = 1_000;
const WARM_UP = { oneByOne: 3_000, inFlight: 30_000, handled: 5_000 };
/** Number of messages, at least, that are pending besides those that fall due. */
const FEWEST_LEFT = 1_000;
/** The time to fill the queue before the first message falls due, as a multiple of what it took the last time. */
const LEAD = 3;
/** Milliseconds on top of that. */
const SPARE = 3_000;

function figuresFor(size: number): Figure[] {
  const pending = `${size.toLocaleString('en')} pending`;
  return [
    { key: `oneByOne ${size}`, title: `offers one by one, ${pending}`, unit: '/s', better: 'more' },
    { key: `inFlight ${size}`, title: `offers, ${CALLERS} in flight, ${pending}`, unit: '/s', better: 'more' },
    { key: `handled ${size}`, title: `2,000 due at once, handled, ${pending}`, unit: '/s', better: 'more' },
    { key: `ping ${size}`, title: `another client's PING meanwhile, p99, ${pending}`, unit: 'ms', better: 'less' },
    { key: `late ${size}`, title: `p99 lateness at 1,000 per second, ${pending}`, unit: 'ms', better: 'less' },
  ];
}

/** Offers and due messages among many others, whose due times are random and far away. */
export const pending: Scenario = {
  name: 'pending',
  title: 'Among others',
  figures: [...new Set([...SIZES.quick, ...SIZES.full])].flatMap(figuresFor),
  maxRounds: 3,
  onRequest: true,

  async measure(stage) {
    const { producer, consumer } = await stage.startBoth();
    await warmUp(producer, consumer);
    const figures: Record<string, number> = {};
    for (const size of stage.pick(SIZES)) {
      await stage.redis.flushall();
      const { took } = await producer.ask('fill', { count: size, delay: later });
      if (!stage.system.borrowsOffers) Object.assign(figures, await measureOffers(stage, producer, size));
      const queue = { size, leadEach: (took / size) * LEAD };
      Object.assign(figures, await measureDue({ stage, producer, consumer }, queue));
    }
    return figures;
  },
};

interface Setting {
  readonly stage: Stage;
  readonly producer: SystemProcess;
  readonly consumer: SystemProcess;
}

interface PendingQueue {
  readonly size: number;
  /** How long the queue may take to fill, ms for each message. */
  readonly leadEach: number;
}

/** Java compiles what runs often, and so does Node.js. */
async function warmUp(producer: SystemProcess, consumer: SystemProcess): Promise<void> {
  await producer.ask('offerOneByOne', { count: WARM_UP.oneByOne, delay: later });
  await producer.ask('offerInFlight', { count: WARM_UP.inFlight, inFlight: CALLERS, delay: later });
  await producer.ask('fill', { count: WARM_UP.handled, delay: 1 });
  await consumer.ask('handled', { count: WARM_UP.handled });
}

async function measureOffers(stage: Stage, producer: SystemProcess, size: number) {
  const few = stage.pick({ quick: 1_000, full: 3_000 });
  const many = stage.pick({ quick: 10_000, full: 30_000 });
  const oneByOne = await producer.ask('offerOneByOne', { count: few, delay: later });
  const inFlight = await producer.ask('offerInFlight', { count: many, inFlight: CALLERS, delay: later });
  return {
    [`oneByOne ${size}`]: (few / oneByOne.took) * 1000,
    [`inFlight ${size}`]: (many / inFlight.took) * 1000,
  };
}

async function measureDue(setting: Setting, queue: PendingQueue) {
  const atOnce = await letFallDue(setting, queue, { count: AT_ONCE, interval: 0 });
  const seconds = setting.stage.pick({ quick: 3, full: 5 });
  const steady = await letFallDue(setting, queue, { count: RATE * seconds, interval: 1000 / RATE });
  return {
    [`handled ${queue.size}`]: (AT_ONCE / atOnce.lateness.max) * 1000,
    [`ping ${queue.size}`]: atOnce.ping.p99,
    [`late ${queue.size}`]: steady.lateness.p99,
  };
}

/** @returns the lateness of `count` messages at random places among the others, and of answers to another client meanwhile */
async function letFallDue(
  { stage, producer, consumer }: Setting,
  { size, leadEach }: PendingQueue,
  { count, interval }: { count: number; interval: number },
) {
  await stage.redis.flushall();
  await consumer.ask('reset');
  const all = Math.max(size, count + FEWEST_LEFT);
  const first = Date.now() + Math.round(all * leadEach + SPARE);
  await producer.ask('fill', { count: all, delay: later, due: { count, first, interval } });
  if (Date.now() > first) throw new Error('the queue was not filled in time');
  await sleep(first - Date.now());
  const probe = new PingProbe(stage.redis);
  const { lateness } = await consumer.ask('handled', { count });
  return { lateness, ping: await probe.stop() };
}
