import { Redis } from 'ioredis';
import type { Offer, Producer, Server } from '../adapter.js';
import { CHANNEL, DELAYED, loadScripts } from './scripts.js';

const BATCH = 1000;

/** Sends all offers of one turn of the event loop together. */
export async function openProducer(server: Server): Promise<Producer> {
  const redis = new Redis({ ...server });
  const run = await loadScripts(redis);
  // Ids as long as the library's, so that both take the same memory.
  const prefix = process.pid.toString(36).padStart(5, '0');
  let counter = 0;
  let waiting: { args: string[]; done: () => void; failed: (error: unknown) => void }[] = [];

  const argumentsOf = ({ payload, delay }: Offer): [string, string, string] => {
    const id = `${prefix}-${(counter++).toString(36).padStart(10, '0')}`;
    return [id, String(delay), JSON.stringify(payload)];
  };
  const flush = async () => {
    const batch = waiting;
    if (batch.length === 0) return;
    waiting = [];
    try {
      await run('offer', [CHANNEL, ...batch.flatMap(({ args }) => args)]);
      for (const { done } of batch) done();
    } catch (error) {
      for (const { failed } of batch) failed(error);
    }
  };

  return {
    offer: (offer) =>
      new Promise((resolve, reject) => {
        const args = argumentsOf(offer);
        if (waiting.length === 0) setImmediate(() => void flush());
        waiting.push({ args, done: () => resolve(args[0]), failed: reject });
        if (waiting.length === BATCH) void flush();
      }),
    offerMany: async (offers) => {
      await run('offer', [CHANNEL, ...offers.flatMap(argumentsOf)]);
    },
    cancel: async (id) => {
      await run('cancel', [id]);
    },
    reschedule: async (id, delay) => {
      await redis.zadd(DELAYED, 'XX', Date.now() + delay, id);
    },
  };
}
