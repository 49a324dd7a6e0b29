import { Queue, Worker } from 'bullmq';
import { type Adapter, CONCURRENCY, type Offer, type Payload, type Producer, QUEUE, type Server } from './adapter.js';

/** The name of every job: a queue of one kind of job needs none, but `add` asks for it. */
const NAME = 'message';

/** BullMQ; everything that is not said here is at its default. */
export const adapter: Adapter = {
  async openProducer(connection: Server): Promise<Producer> {
    const queue = new Queue<Payload>(QUEUE, {
      connection: { ...connection },
      // Kept by default, for its dashboards. The documentation tells to remove them in production; it also costs less.
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
      // There is no way around getting the job first.
      reschedule: async (id, delay) => (await queue.getJob(id))?.changeDelay(delay),
    };
  },

  async startConsumer(connection, handle) {
    const worker = new Worker<Payload>(
      QUEUE,
      (job) => {
        handle(job.data);
        return Promise.resolve();
      },
      { connection: { ...connection }, concurrency: CONCURRENCY },
    );
    worker.on('error', (error) => console.error(error));
    await worker.waitUntilReady();
  },
};
