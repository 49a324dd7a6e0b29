import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import type { AnnouncedTransfer } from '../../lib/store/consumer-store.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { until } from '../support/until.js';

/** The due time of a message that is offered and cancelled at once, when a watcher begins. */
const BEGINNING = 0;

interface Recorded {
  /** Due times. */
  readonly dueTimes: number[];
  readonly transfers: AnnouncedTransfer[];
  readonly stop: () => void;
}

/**
 * Records announcements from now on. They keep their order, so once one of our own arrives, no earlier one is still on its way: in a
 * cluster they take a while from server to server.
 */
export async function listen(store: MessageStore): Promise<Recorded> {
  const [dueTimes, transfers]: [number[], AnnouncedTransfer[]] = [[], []];
  let [listening, hasBegun] = [false, false];
  const stop = store.watchDue({
    onEarlierDue: ({ dueAt }) => {
      if (dueAt === BEGINNING) hasBegun = true;
      else dueTimes.push(dueAt);
    },
    onTransfer: (transfer) => transfers.push(transfer),
    onListening: () => {
      listening = true;
    },
  });
  await until(() => listening);
  const body = nativeCodec.encode({ type: '', payload: null, headers: {} });
  await store.offer([{ id: 'the beginning', due: { at: BEGINNING }, onDuplicate: 'reject', body }]);
  await until(() => hasBegun);
  await store.cancel('the beginning');
  dueTimes.length = 0;
  return { dueTimes, transfers, stop };
}
