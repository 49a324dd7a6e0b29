import { type JobInsert, PgBoss } from 'pg-boss';
import { POSTGRES_DATABASE, POSTGRES_USER } from '../servers/start-postgres.js';
import { type Adapter, CONCURRENCY, type Offer, type Payload, type Producer, QUEUE, type Server } from './adapter.js';

/**
 * pg-boss on PostgreSQL, with the defaults of both where nothing is set here. It stands for the queues on PostgreSQL: of
 * those for Node.js it is released more often than graphile-worker, whose jobs of the future wait for a poll, too.
 *
 * The server flushes each commit to the disk, which is what users of a database have; the Redis of the other systems
 * keeps nothing on disk. So offers and completions are safer here, and cost more.
 *
 * It asks for Node.js 22.12, and works with the 20.19 of this package so far; npm warns.
 */
export const adapter: Adapter = {
  async openProducer(server: Server): Promise<Producer> {
    const boss = await start(server);
    return {
      offer: async (offer) => (await boss.send(QUEUE, offer.payload, { startAfter: dueOf(offer) }))!,
      offerMany: async (offers) => {
        await boss.insert(QUEUE, offers.map(toJob));
      },
    };
  },

  async startConsumer(server, handle) {
    const boss = await start(server);
    await boss.work<Payload>(
      QUEUE,
      {
        // A worker takes one job a poll by default.
        batchSize: CONCURRENCY,
        // The shortest that it accepts, instead of two seconds. LISTEN/NOTIFY announces only jobs that are due when they are
        // sent, so a delayed one always waits for a poll.
        pollingIntervalSeconds: 0.5,
        // For a backlog: after a full batch the next is fetched at once.
        burstWhenBatchFull: true,
      },
      async (jobs) => {
        await Promise.all(jobs.map(({ data }) => Promise.resolve(handle(data))));
      },
    );
  },
};

async function start({ host, port }: Server): Promise<PgBoss> {
  const boss = new PgBoss({ host, port, user: POSTGRES_USER, database: POSTGRES_DATABASE });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue(QUEUE);
  return boss;
}

const dueOf = ({ delay }: Offer) => new Date(Date.now() + delay);
const toJob = (offer: Offer): JobInsert => ({ data: offer.payload, startAfter: dueOf(offer) });
