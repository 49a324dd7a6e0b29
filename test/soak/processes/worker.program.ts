/** A process that handles all queues with the module. */
import 'reflect-metadata';
import { handlerOf } from '../../support/test-app.js';
import { Journal } from '../journal/journal.js';
import { QUEUE_NAMES } from '../workload/message-plan.js';
import { ClaimJournal } from './claim-journal.js';
import { journalledModule } from './journalled-module.js';
import { MessageHandler } from './message-handler.js';
import { moduleOptions } from './module-options.js';
import { readProcessSettings } from './process-settings.js';
import { startSupervised } from './start-supervised.js';
import { tellReady, whenToldToStop } from './with-parent.js';

const settings = readProcessSettings();
const journal = new Journal(settings.journal, settings.epoch);
const claims = new ClaimJournal(journal);
const handler = new MessageHandler(settings, journal);

class SoakWorker {}

const app = await startSupervised(() => ({
  module: SoakWorker,
  imports: [journalledModule(moduleOptions(settings), claims)],
  providers: QUEUE_NAMES.map((queue) =>
    handlerOf(queue, (_payload, message) => handler.handle(message, claims.startedBy(queue, message.id))),
  ),
}));
journal.watchForStalls(() => handler.blocked);
tellReady();

process.on('SIGTERM', () => void stop());
await whenToldToStop();
await stop();

async function stop(): Promise<void> {
  await app.close();
  journal.flush();
  process.exit();
}
