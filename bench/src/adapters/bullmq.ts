import { Queue, Worker } from 'bullmq';
import { type Adapter, CONCURRENCY, type Offer, type Payload, type Producer, QUEUE, type Server } from './adapter.js';

/** `add` asks for a job name. */
const NAME = 'message';

/** BullMQ, with the defaults where nothing is set here. */
export const adapter: Adapter = {
  async openProducer(connection: Server): Promise<Producer> {
    const queue = new Queue<Payload>(QUEUE, {
      connection: { ...connection },
      // The default keeps them for dashboards. Its documentation recommends removal in production, which also costs less.
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    });
    await queue.waitUntilReady();
    return {
      offer: async ({ payload, delay }) => (await queue.add(NAME, payload, { delay })).id!,
      offerMany: async (offers: readonly Offer[]) => {
        await queue.addBulk(offers.map(({ payload, delay }) => ({ name: NAME, data: payload, opts: { delay } })));
      },
      cancel: async (id) => {
        await queue.remove(id);
      },
      // BullMQ reschedules a job only after loading it.
      reschedule: async (id, delay) => (await queue.getJob(id))?.changeDelay(delay),
    };
  },

  async startConsumer(connection, handle) {
    const worker = new Worker<Payload>(QUEUE, (job) => Promise.resolve(handle(job.data)), {
      connection: { ...connection },
      concurrency: CONCURRENCY,
    });
    worker.on('error', (error) => console.error(error));
    await worker.waitUntilReady();
  },

  async serveQueues(connection, queues) {
    const workers = queues.map((queue) => {
      const worker = new Worker(queue, () => Promise.resolve(), {
        connection: { ...connection },
        concurrency: CONCURRENCY,
      });
      worker.on('error', (error) => console.error(error));
      return worker;
    });
    await Promise.all(workers.map((worker) => worker.waitUntilReady()));
  },
};
