import { Redis } from 'ioredis';
import { type Adapter, type Offer, type Payload, type Producer, QUEUE, type Server } from './adapter.js';

/** The text suggests a prefix, because every key that expires is announced on the same channel. */
const PREFIX = `${QUEUE}:`;
const CHANNEL = '__keyevent@*__:expired';
/** The message is the key, so the value does not matter. */
const VALUE = 'task';

/**
 * Keys that expire, as many blog posts describe: the message is the key, its time to live is the delay, and whoever
 * subscribes to the notifications of expired keys handles it. Redis announces a key when it deletes it, which may be long
 * after it expired; it announces it once, to everybody who listens at that moment.
 *
 * The text uses SET and EXPIRE, in whole seconds. One call with milliseconds is kinder: the lateness is that of Redis,
 * and no message without a time to live is left behind by a process that ends between the two.
 */
export const adapter: Adapter = {
  openProducer(server: Server): Promise<Producer> {
    const redis = new Redis({ ...server });
    const keyOf = keysOf(process.pid);
    const producer: Producer = {
      offer: async (offer) => {
        const key = keyOf(offer);
        await redis.set(key, VALUE, 'PX', offer.delay);
        return key;
      },
      // The text offers one by one. This is how users of ioredis send a list.
      offerMany: async (offers) => {
        const pipeline = redis.pipeline();
        for (const offer of offers) pipeline.set(keyOf(offer), VALUE, 'PX', offer.delay);
        for (const [error] of (await pipeline.exec())!) if (error) throw error;
      },
    };
    return Promise.resolve(producer);
  },

  async startConsumer(server, handle) {
    const redis = new Redis({ ...server });
    // Announces expired keys only: Spring, which the text uses, sets this at the start, too.
    await redis.config('SET', 'notify-keyspace-events', 'Ex');
    const subscriber = new Redis({ ...server });
    subscriber.on('pmessage', (_pattern, _channel, key: string) => {
      if (key.startsWith(PREFIX)) void handle(payloadOf(key));
    });
    await subscriber.psubscribe(CHANNEL);
  },
};

/** A counter keeps equal messages apart, which would be one key. */
function keysOf(producer: number): (offer: Offer) => string {
  let counter = 0;
  return ({ payload }) => `${PREFIX}${producer}-${counter++}:${JSON.stringify(payload)}`;
}

function payloadOf(key: string): Payload {
  return JSON.parse(key.slice(key.indexOf(':', PREFIX.length) + 1)) as Payload;
}
