/** A process that offers messages at an even rate, changes some, and repeats each call until its outcome is known. */
import 'reflect-metadata';
import { DelayQueueModule, DelayQueueProducer } from '../../../lib/index.js';
import { Journal } from '../journal/journal.js';
import { HangingOffers, isHanging } from './hanging-observers.js';
import { MessageProducer } from './message-producer.js';
import { moduleOptions } from './module-options.js';
import { readProcessSettings } from './process-settings.js';
import { startSupervised } from './start-supervised.js';
import { reportReady, whenAskedToStop } from './with-parent.js';

const settings = readProcessSettings();
const journal = new Journal(settings.journal, settings.epoch, settings.shift);

const observers = isHanging(settings) ? [new HangingOffers(settings)] : [];

const { acknowledge: replicas } = settings.soak;
const acknowledge = replicas > 0 ? ({ replicas, within: '500ms' } as const) : undefined;

class SoakProducer {}

const app = await startSupervised(() => ({
  module: SoakProducer,
  imports: [DelayQueueModule.forRoot({ ...moduleOptions(settings), acknowledge, observers, consume: false })],
}));
journal.watchForStalls();
const producer = new MessageProducer(settings, journal, app.get(DelayQueueProducer, { strict: false }));
reportReady();

producer.start();
await whenAskedToStop();
await producer.finish();
await app.close();
journal.flush();
process.exit();
