import { RedisMeter } from '../measure/redis-meter.js';
import type { Stage } from '../measure/stage.js';
import type { SystemProcess } from '../process/system-process.js';
import { BASELINE, OURS } from '../systems.js';
import type { Figure, Scenario } from './scenario.js';

const DAY = 86_400_000;
const later = { from: DAY, to: 2 * DAY };
const FEW_PENDING = 1_000;
const WARM_UP = 50_000;

const OPERATIONS = {
  offer: 'offer',
  reschedule: 'reschedule',
  cancel: 'cancel',
  handle: 'from due to done',
};

/** The cost of a message for Redis with few messages pending, and with many. */
function figuresFor(sizes: readonly number[]): Figure[] {
  return Object.entries(OPERATIONS).flatMap(([operation, title]) => [
    { key: `${operation} ${FEW_PENDING}`, title: `${title}, 1,000 pending`, unit: 'µs', better: 'less' as const },
    ...sizes.map((size) => ({
      key: `${operation} ${size}`,
      title: `${title}, ${size.toLocaleString('en')} pending`,
      unit: 'µs',
      better: 'less' as const,
    })),
  ]);
}

async function measureGrowth(stage: Stage, sizes: readonly number[]) {
  const producer = await stage.startProducer();
  // Otherwise the first messages would pay for the memory that the server takes from the system.
  await producer.ask('fill', { count: WARM_UP, delay: later });
  await stage.redis.flushall();

  const figures: Record<string, number | undefined> = {};
  let pending = 0;
  for (const size of [FEW_PENDING, ...sizes]) {
    await producer.ask('fill', { count: size - pending, delay: later });
    pending = size;
    const costs = await measureCosts(stage, producer);
    for (const [operation, cpu] of Object.entries(costs)) figures[`${operation} ${size}`] = cpu;
  }
  return figures;
}

/** Redis CPU of each operation, µs. Leaves only a few more pending messages behind. */
async function measureCosts(stage: Stage, producer: SystemProcess) {
  const few = stage.pick({ quick: 500, full: 5_000 });
  const many = stage.pick({ quick: 5_000, full: 20_000 });
  const cpuOf = async (count: number, work: () => Promise<unknown>) => {
    const meter = await RedisMeter.start(stage.redis);
    const result = await work();
    const { cpu } = await meter.stop();
    return result === undefined ? undefined : cpu / count;
  };
  const offer = await cpuOf(few, () => producer.ask('offerOneByOne', { count: few, delay: later }));
  await producer.ask('prepare', { count: few, delay: later });
  const reschedule = await cpuOf(few, () => producer.ask('reschedulePrepared', { inFlight: 100, delay: later }));
  const cancel = await cpuOf(few, () => producer.ask('cancelPrepared', { inFlight: 100 }));
  const consumer = await stage.startConsumer();
  await producer.ask('fill', { count: many, delay: 1 });
  const handle = await cpuOf(many, async () => {
    await consumer.ask('start');
    return consumer.ask('handled', { count: many });
  });
  await consumer.end();
  return { offer, reschedule, cancel, handle };
}

const QUICK_SIZES = [30_000];
const FULL_SIZES = [100_000, 1_000_000];

export const growth: Scenario = {
  name: 'growth',
  title: 'Redis CPU',
  figures: figuresFor([...QUICK_SIZES, ...FULL_SIZES]),
  maxRounds: 1,
  measure: (stage) => measureGrowth(stage, stage.pick({ quick: QUICK_SIZES, full: FULL_SIZES })),
};

/** Takes minutes and 5 GB of memory. */
export const hugeGrowth: Scenario = {
  name: 'huge-growth',
  title: 'Redis CPU',
  figures: figuresFor([10_000_000]),
  suits: ({ name }) => name === OURS || name === BASELINE || name === 'earlier',
  maxRounds: 1,
  onRequest: true,
  measure: (stage) => measureGrowth(stage, [10_000_000]),
};
