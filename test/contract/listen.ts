import type { AnnouncedTransfer } from '../../lib/store/consumer-store.js';
import { until } from '../support/until.js';
import type { ContractQueue } from './contract-queue.js';

/** The due time of a message that is offered and cancelled at once, when a watcher begins. */
const BEGINNING = 0;

interface Recorded {
  /** Due times. */
  readonly dueTimes: number[];
  readonly transfers: AnnouncedTransfer[];
  readonly stop: () => void;
}

/**
 * Records announcements from now on. Those of a subscription keep their order, so once one of our own arrives, no earlier one is still on
 * its way: in a cluster they take a while from server to server.
 */
export async function listen(queue: ContractQueue, view = queue.store): Promise<Recorded> {
  const [dueTimes, transfers]: [number[], AnnouncedTransfer[]] = [[], []];
  let [listening, hasBegun] = [0, false];
  const stop = view.watchDue({
    onEarlierDue: ({ dueAt }) => {
      if (dueAt === BEGINNING) hasBegun = true;
      else dueTimes.push(dueAt);
    },
    onTransfer: (transfer) => transfers.push(transfer),
    onListening: () => listening++,
  });
  await until(() => listening >= queue.subscriptions);
  await queue.offer('the beginning', { at: BEGINNING }, { view });
  await until(() => hasBegun);
  await view.cancel('the beginning');
  dueTimes.length = 0;
  return { dueTimes, transfers, stop };
}
