import { JavaPeer, type JavaQueue } from '../../../packages/redisson/test/java/java-peer.js';
import type { RedissonLine } from '../../../packages/redisson/test/java/java-build.js';
import { type Adapter, type Offer, type Payload, QUEUE, type Server } from './adapter.js';

/** The text of StringCodec is the JSON that the layout `redisson` of this package writes by default. */
const JAVA_QUEUE: JavaQueue = { queue: QUEUE, codec: 'string' };
/** Each blocks a connection, and Redisson has 64 by default. */
const CONSUMERS = 32;
/** None: the JVM compiles and allocates as it does in production. */
const JVM_OPTIONS: readonly string[] = [];
/** How often the messages that Java has taken are read, ms. Java notes when it took them. */
const INTERVAL = 100;

/** Real Redisson, in a Java program of its own. */
export function createAdapter(line: RedissonLine): Adapter {
  const start = async ({ host, port }: Server) => {
    const java = await JavaPeer.start(line, JVM_OPTIONS);
    await java.connect(`redis://${host}:${port}`);
    return java;
  };

  return {
    async openProducer(server) {
      const java = await start(server);
      // Offers that follow start no transfer task: the consumer has one.
      await java.stopTransfer(JAVA_QUEUE);
      return {
        offer: async ({ payload, delay }) => {
          const value = JSON.stringify(payload);
          await java.offer(JAVA_QUEUE, { value }, delay);
          return value;
        },
        offerAll: (offers, inFlight) => java.offerAll(JAVA_QUEUE, offers.map(toJava), inFlight),
      };
    },

    async startConsumer(server, handle) {
      const java = await start(server);
      await java.startTransfer(JAVA_QUEUE);
      await java.collect(JAVA_QUEUE, CONSUMERS);
      const read = async () => {
        for (const { value, at } of await java.collected(JAVA_QUEUE)) {
          void handle(JSON.parse(value.value as string) as Payload, at);
        }
        setTimeout(() => void read(), INTERVAL);
      };
      await read();
    },
  };
}

function toJava({ payload }: Offer): { value: string; due: number } {
  return { value: JSON.stringify(payload), due: payload.due };
}
