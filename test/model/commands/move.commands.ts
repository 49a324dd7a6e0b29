import fc from 'fast-check';
import type { ScannedId, ScannedPast } from '../../../lib/store/message-past.js';
import { command, often, type WeightedCommands } from './command.js';

/** The commands that move what a queue remembers, and the ids that it keeps, out of the queue and back. */
export function moveCommands(): WeightedCommands[] {
  const moveHistory = command({
    name: 'clear and restore the history',
    args: fc.constant(null),
    run: async (model, { views: [store] }) => {
      const [entries, { history }] = [await all((cursor) => store.scanHistory!(cursor)), model];
      await store.clear();
      model.clear();
      for (const entry of entries) await store.restoreHandled!(entry);
      model.history = history;
    },
  });
  const moveKeptIds = command({
    name: 'free and restore kept ids',
    args: fc.constant(null),
    run: async (_model, { views: [store] }) => {
      const found = await all((cursor) => store.scanKeptIds!(cursor));
      for (const { id } of found) await store.freeId!(id);
      for (const kept of found) await store.restoreKeptId!(kept);
    },
  });
  return [often(2, moveHistory), often(4, moveKeptIds)];
}

async function all<Part extends ScannedId>(scan: (cursor?: string) => Promise<ScannedPast<Part>>): Promise<Part[]> {
  const found: Part[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await scan(cursor);
    found.push(...page.found);
    ({ cursor } = page);
  }
  return found;
}
