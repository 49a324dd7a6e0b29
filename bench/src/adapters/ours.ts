import 'reflect-metadata';
import { Injectable, Module, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { pathToFileURL } from 'node:url';
import type * as Library from '../../../lib/index.js';
import { greet, type Neighbour } from './neighbours.js';
import { type Adapter, CONCURRENCY, type Offer, type Payload, QUEUE, type Server } from './adapter.js';

interface Settings {
  readonly defaults?: Library.QueueOptions;
  readonly neighbour?: Neighbour;
  /** In how many groups messages are, in turn; default: messages have none. */
  readonly groups?: number;
}

/** The library in a Nest application, loaded from the folder of its build. */
export async function createAdapter(
  libraryFolder: string,
  { defaults, neighbour, groups = 0 }: Settings = {},
): Promise<Adapter> {
  const library = (await import(pathToFileURL(`${libraryFolder}/index.js`).href)) as typeof Library;
  const { DelayedHandler, DelayQueueModule, DelayQueueProducer } = library;

  const start = (server: Server, consume: boolean, providers: readonly Provider[]) => {
    const { nodes, ...single } = server;
    const connection = nodes ? { cluster: { nodes: [...nodes] } } : single;
    const options = { connection, consume, ...(defaults && { defaults }), ...neighbour?.options(consume) };
    const others = neighbour && consume ? [neighbour.handler(library)] : [];
    @Module({ imports: [DelayQueueModule.forRoot(options)], providers: [...providers, ...others] })
    class BenchModule {}
    return NestFactory.createApplicationContext(BenchModule, { logger: ['error', 'warn'] });
  };

  let offered = 0;
  const inGroup = (offer: Offer) => ({ ...offer, group: `customer-${offered++ % groups}` });

  return {
    async openProducer(server) {
      const producer = (await start(server, false, [])).get(DelayQueueProducer);
      if (neighbour) await greet(producer, neighbour);
      return {
        offer: async ({ payload, delay }) => (await producer.offer(QUEUE, payload, delay)).id,
        offerMany: async (offers) => {
          await producer.offerMany(QUEUE, groups > 0 ? offers.map(inGroup) : offers);
        },
        cancel: async (id) => {
          await producer.cancel(QUEUE, id);
        },
        reschedule: async (id, delay) => {
          await producer.reschedule(QUEUE, id, delay);
        },
      };
    },

    async startConsumer(server, handle) {
      @Injectable()
      class Consumer {
        @DelayedHandler(QUEUE, { concurrency: CONCURRENCY })
        handle(payload: Payload): Promise<void> | undefined {
          return handle(payload);
        }
      }
      await start(server, true, [Consumer]);
    },

    async serveQueues(server, queues) {
      const consumers = queues.map((queue) => {
        @Injectable()
        class Consumer {
          @DelayedHandler(queue, { concurrency: CONCURRENCY })
          handle(): void {}
        }
        return Consumer;
      });
      await start(server, true, consumers);
    },
  };
}
