import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { MessageState } from '../../../lib/message/message.js';
import { expectListed } from '../agreement.invariant.js';
import { command, often, type WeightedCommands } from './command.js';

export function listCommands(): WeightedCommands[] {
  const list = command({
    name: 'list',
    args: fc.record({
      state: fc.constantFrom<MessageState>('delayed', 'ready', 'active', 'dead'),
      limit: fc.constantFrom(1, 2, 1000),
      from: fc.constantFrom<'cursor' | number>('cursor', 0, 1, 3),
    }),
    run: async (model, real, { state, limit, from }) => {
      const behind = from === 'cursor' ? model.lastPages.get(state) : undefined;
      const offset = from === 'cursor' ? 0 : from;
      const start = behind ? { cursor: behind.cursor } : { offset };
      const { messages, cursor } = await real.views[1].list({ state, from: start, limit });
      const expected = model.listedBehind(state, behind?.last)?.slice(offset);
      const last = messages.at(-1);
      const remembered = last && model.messages.get(last.id);
      if (cursor !== null && remembered) model.lastPages.set(state, { cursor, last: { ...remembered } });
      else model.lastPages.delete(state);
      if (!expected) return;
      expectListed(messages, model.messages);
      expect(messages.map(({ id }) => id)).toEqual(expected.slice(0, limit).map(({ id }) => id));
      expect(cursor === null).toBe(expected.length <= limit);
    },
  });

  return [often(5, list)];
}
