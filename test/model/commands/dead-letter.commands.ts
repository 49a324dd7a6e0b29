import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { DeadSelection, StoredDeadLetter } from '../../../lib/store/message-upkeep.js';
import { expectLetters, IDS } from '../agreement.invariant.js';
import type { QueueModel } from '../queue-model.js';
import { timed } from '../real-queue.js';
import { command, often, type WeightedCommands } from './command.js';

const selection: fc.Arbitrary<DeadSelection> = fc.oneof(
  fc.record({ oldest: fc.constantFrom(1, 2, 1000) }),
  fc.record({ id: fc.constantFrom(...IDS) }),
);

export function deadLetterCommands(): WeightedCommands[] {
  const redrive = command({
    name: 'redrive',
    args: selection,
    run: async (model, real, selected) => {
      const { answer, at } = await timed(real, () => real.views[1].redrive(selected));
      expect(answer).toBe(model.redrive(selected, at));
    },
  });

  const discard = command({
    name: 'discard',
    args: selection,
    run: async (model, real, selected) => {
      expect(await real.views[1].discard(selected)).toBe(model.discard(selected));
    },
  });

  const listDead = command({
    name: 'listDead',
    args: fc.record({ limit: fc.constantFrom(1, 2, 1000), goOn: fc.boolean() }),
    run: async (model, real, { limit, goOn }) => {
      const after = goOn ? model.lastPage : null;
      const { letters, cursor } = await real.views[1].listDead({ cursor: after?.cursor, limit });
      expectLetters(letters, model.messages);
      expectPage(model, letters, limit, after);
      const last = letters.at(-1);
      model.lastPage = cursor !== null && last ? { cursor, id: last.id, diedAt: last.diedAt } : null;
      const youngest = model.in('dead').at(-1)?.id;
      if (letters.length > 0) expect(cursor === null).toBe(last?.id === youngest);
    },
  });

  return [often(3, redrive), often(2, discard), often(3, listDead)];
}

/**
 * A page continues after the last letter of the previous page. If that one is gone, letters of its millisecond may be
 * repeated, but none is left out.
 */
function expectPage(
  model: QueueModel,
  letters: readonly StoredDeadLetter[],
  limit: number,
  after: QueueModel['lastPage'],
): void {
  const dead = model.in('dead').map(({ id, death }) => ({ id, at: death!.at.exact }));
  const before = dead.filter(({ at }) => after && at < after.diedAt).length;
  const listed = dead.filter(
    ({ id, at }) => after && (at < after.diedAt || (at === after.diedAt && id <= after.id)),
  ).length;
  const isThere = dead.some(({ id, at }) => id === after?.id && at === after.diedAt);
  const possible = Array.from({ length: listed - before + 1 }, (_, index) => (isThere ? listed : before + index)).map(
    (start) => dead.slice(start, start + limit).map(({ id }) => id),
  );
  expect(possible).toContainEqual(letters.map(({ id }) => id));
}
