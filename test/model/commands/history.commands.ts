import fc from 'fast-check';
import type { Handling } from '../../../lib/store/consumer-store.js';
import type { StoredMessage } from '../../../lib/store/admin-store.js';
import { IDS, listHistory } from '../agreement.invariant.js';
import { timed } from '../real-queue.js';
import { command, often, type WeightedCommands } from './command.js';

const worker = { id: 'w', host: 'h', pid: 1 };

/** The commands of a queue that remembers handled messages. */
export function historyCommands(): WeightedCommands[] {
  const remember = command({
    name: 'remember',
    args: fc.record({
      ids: fc.uniqueArray(fc.constantFrom(...IDS), { minLength: 1, maxLength: 4 }),
      took: fc.constantFrom(1, 2),
    }),
    run: async (model, real, { ids, took }) => {
      const [store] = real.views;
      const found = await Promise.all(ids.map((id) => store.find(id)));
      const handlings = ids.map((id, i) => handlingOf(id, found[i]!, took));
      const { at } = await timed(real, () => store.remember!(handlings));
      model.remember(handlings, at, await listHistory(store));
    },
  });
  return [often(6, remember)];
}

/** Of a message that is not there, as if its outcome had been settled before. */
function handlingOf(id: string, found: StoredMessage | null, took: number): Handling {
  const { dueAt, offeredAt } = found ?? { dueAt: 1, offeredAt: 1 };
  return { id, keptAs: id, entry: { dueAt, offeredAt, lateness: 0, took, attempt: 1, worker } };
}
