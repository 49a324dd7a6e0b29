import { Redis } from 'ioredis';
import { CONCURRENCY, type Handle, type Payload, type Server } from '../adapter.js';
import { CHANNEL, loadScripts } from './scripts.js';

const BATCH = 1000;
const LEASE = 30_000;
/** Well below the longest timeout that setTimeout takes. */
const MAX_SLEEP = 60_000;

/** The only consumer: it wakes no other, counts no attempts and retries nothing. */
export async function startConsumer(server: Server, handle: Handle): Promise<void> {
  const redis = new Redis({ ...server });
  const run = await loadScripts(redis);
  let timer: NodeJS.Timeout | undefined;
  let wakeAt = Infinity;
  let unclaimed = 0;
  let claiming = false;

  const sleepUntil = (at: number) => {
    if (at >= wakeAt) return;
    wakeAt = at;
    clearTimeout(timer);
    timer = setTimeout(() => void transfer(), Math.min(Math.max(0, at - performance.now()), MAX_SLEEP));
  };

  const transfer = async () => {
    wakeAt = Infinity;
    for (;;) {
      const [moved, next] = (await run('transfer', [BATCH])) as [number, number];
      unclaimed += moved;
      if (!claiming) void claimAll();
      if (next >= 0) sleepUntil(performance.now() + next);
      if (moved < BATCH) return;
    }
  };

  const claimAll = async () => {
    claiming = true;
    while (unclaimed > 0) {
      const [ids, bodies] = (await run('claim', [CONCURRENCY, LEASE])) as [string[], string[]];
      unclaimed -= ids.length;
      for (const body of bodies) void handle(JSON.parse(body) as Payload);
      // Not awaited: the next claim is sent right behind it.
      void run('settle', ids);
    }
    claiming = false;
  };

  const subscriber = new Redis({ ...server });
  subscriber.on('message', (_channel, dueIn: string) => sleepUntil(performance.now() + Number(dueIn)));
  await subscriber.subscribe(CHANNEL);
  await transfer();
}
