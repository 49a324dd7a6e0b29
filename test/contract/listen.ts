import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import type { AnnouncedTransfer } from '../../lib/store/consumer-store.js';
import type { MessageStore } from '../../lib/store/message-store.js';
import { until } from '../support/until.js';

/** The due time of a message that is offered and cancelled at once, when a watcher begins. */
const BEGINNING = 0;

interface Heard {
  /** Due times. */
  readonly heard: number[];
  readonly told: AnnouncedTransfer[];
  readonly stop: () => void;
}

/**
 * Records announcements from now on. They keep their order, so once one of our own arrives, no earlier one is still on its way: in a
 * cluster they take a while from server to server.
 */
export async function listen(store: MessageStore): Promise<Heard> {
  const [heard, told]: [number[], AnnouncedTransfer[]] = [[], []];
  let [listening, hasBegun] = [false, false];
  const stop = store.watchDue({
    onEarlierDue: ({ dueAt }) => {
      if (dueAt === BEGINNING) hasBegun = true;
      else heard.push(dueAt);
    },
    onTransfer: (transfer) => told.push(transfer),
    onListening: () => {
      listening = true;
    },
  });
  await until(() => listening);
  const body = nativeCodec.encode({ type: '', payload: null, headers: {} });
  await store.offer([{ id: 'the beginning', due: { at: BEGINNING }, onDuplicate: 'reject', body }]);
  await until(() => hasBegun);
  await store.cancel('the beginning');
  heard.length = 0;
  return { heard, told, stop };
}
