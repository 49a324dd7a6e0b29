/**
 * A consumer as one might write it in an hour: it polls due messages into a list, pops them and handles them. On request it
 * loses what it holds when it is killed, takes messages early, or hands them out twice, and the oracle must notice.
 */
import { Journal } from '../journal/journal.js';
import { QUEUE_NAMES } from '../workload/message-plan.js';
import { MessageHandler } from './message-handler.js';
import { NaiveQueue } from './naive-queue.js';
import { readProcessSettings } from './process-settings.js';
import { reportReady, whenAskedToStop } from './with-parent.js';

const settings = readProcessSettings();
const journal = new Journal(settings.journal, settings.epoch);
const handler = new MessageHandler(settings, journal);
const queues = QUEUE_NAMES.map((queue) => new NaiveQueue(settings, { queue, journal, handler }));

for (const queue of queues) queue.start();
journal.watchForStalls();
reportReady();

process.on('SIGTERM', () => void stop());
await whenAskedToStop();
await stop();

async function stop(): Promise<void> {
  await Promise.all(queues.map((queue) => queue.stop()));
  journal.flush();
  process.exit();
}
