import BeeQueue from 'bee-queue';
import { type Adapter, CONCURRENCY, type Payload, type Producer, QUEUE, type Server } from './adapter.js';

/** bee-queue; everything that is not said here is at its default. */
export const adapter: Adapter = {
  async openProducer(redis: Server): Promise<Producer> {
    const queue = new BeeQueue<Payload>(QUEUE, {
      redis: { ...redis },
      // What its documentation recommends for a process that only puts jobs in.
      isWorker: false,
      getEvents: false,
      // Memory of this process, for events that nobody listens to.
      storeJobs: false,
    });
    await queue.ready();
    const job = (payload: Payload, delay: number) => queue.createJob(payload).delayUntil(Date.now() + delay);
    return {
      offer: async ({ payload, delay }) => (await job(payload, delay).save()).id,
      offerMany: async (offers) => {
        const errors = await queue.saveAll(offers.map(({ payload, delay }) => job(payload, delay)));
        for (const error of errors.values()) throw error;
      },
      cancel: (id) => queue.removeJob(id),
    };
  },

  async startConsumer(redis, handle) {
    const queue = new BeeQueue<Payload>(QUEUE, {
      redis: { ...redis },
      // Without it delayed jobs are never activated. `delayedDebounce` stays at its default of a second.
      activateDelayedJobs: true,
      // No events: nobody listens, and each would cost a PUBLISH.
      getEvents: false,
      sendEvents: false,
      storeJobs: false,
      // As for the others: done is gone.
      removeOnSuccess: true,
      removeOnFailure: true,
    });
    queue.on('error', (error) => console.error(error));
    await queue.ready();
    queue.process(CONCURRENCY, (job) => {
      handle(job.data);
      return Promise.resolve();
    });
  },
};
