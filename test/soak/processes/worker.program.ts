/** A process that handles all queues with the module. */
import 'reflect-metadata';
import type { DelayedMessage } from '../../../lib/index.js';
import { handlerOf } from '../../support/test-app.js';
import { Journal } from '../journal/journal.js';
import { QUEUE_NAMES } from '../workload/message-plan.js';
import { batchHandlerOf } from './batch-handler.js';
import { ClaimJournal } from './claim-journal.js';
import { HangingHandling, isHanging } from './hanging-observers.js';
import { journalledModule } from './journalled-module.js';
import { MessageHandler } from './message-handler.js';
import { moduleOptions } from './module-options.js';
import { readProcessSettings } from './process-settings.js';
import { startSupervised } from './start-supervised.js';
import { reportReady, whenAskedToStop } from './with-parent.js';

const settings = readProcessSettings();
const journal = new Journal(settings.journal, settings.epoch);
const claims = new ClaimJournal(journal);
const handler = new MessageHandler(settings, journal);
const handle = (message: DelayedMessage) => handler.handle(message, claims.startedBy(message));
const observers = isHanging(settings) ? [new HangingHandling(settings, handler, claims)] : [];

class SoakWorker {}

const app = await startSupervised(() => ({
  module: SoakWorker,
  imports: [journalledModule({ ...moduleOptions(settings), observers }, claims)],
  providers: QUEUE_NAMES.map((queue) =>
    queue === 'payments'
      ? batchHandlerOf(queue, (messages) => messages.map(handle))
      : handlerOf(queue, (_payload, message) => handle(message)),
  ),
}));
journal.watchForStalls(() => handler.blocked);
reportReady();

process.on('SIGTERM', () => void stop());
await whenAskedToStop();
await stop();

async function stop(): Promise<void> {
  await app.close();
  journal.flush();
  process.exit();
}
