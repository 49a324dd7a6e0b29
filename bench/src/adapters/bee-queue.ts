import BeeQueue from 'bee-queue';
import { type Adapter, CONCURRENCY, type Payload, type Producer, QUEUE, type Server } from './adapter.js';

/** bee-queue, with the defaults where nothing is set here. */
export const adapter: Adapter = {
  async openProducer(redis: Server): Promise<Producer> {
    const queue = new BeeQueue<Payload>(QUEUE, {
      redis: { ...redis },
      // Its documentation recommends these two for a process that only creates jobs.
      isWorker: false,
      getEvents: false,
      // Would keep every job in memory, for events that nobody listens to.
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
      // Otherwise nothing activates delayed jobs. `delayedDebounce` keeps its default of a second.
      activateDelayedJobs: true,
      // Nobody listens, and each event would cost a PUBLISH.
      getEvents: false,
      sendEvents: false,
      storeJobs: false,
      // The other systems remove what is done, too.
      removeOnSuccess: true,
      removeOnFailure: true,
    });
    queue.on('error', (error) => console.error(error));
    await queue.ready();
    queue.process(CONCURRENCY, (job) => Promise.resolve(handle(job.data)));
  },
};
