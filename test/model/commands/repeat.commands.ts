import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { Outcome } from '../../../lib/store/consumer-store.js';
import { expectInstant, IDS } from '../agreement.invariant.js';
import { timed } from '../real-queue.js';
import { command, often, type WeightedCommands } from './command.js';

/** Far in the future, or long past. */
const at = fc.constantFrom(4_000_000_000_000, 4_000_000_000_001, 3);

/** Messages that repeat, and the ends of their occurrences. */
export function repeatCommands(): WeightedCommands[] {
  const rule = (cron: string) => `Nrepeat\n${JSON.stringify({ cron, timeZone: 'UTC', missed: 'once' })}\nJ"repeats"`;
  const repeat = command({
    name: 'repeat',
    args: fc.record({ id: fc.constantFrom(...IDS), at, body: fc.constantFrom(rule('0 9 * * *'), rule('0 * * * *')) }),
    run: async (model, real, { id, at: dueAt, body }) => {
      const offer = { id, due: { at: dueAt }, onDuplicate: 'repeat' as const, body };
      const { answer, at } = await timed(real, () => real.views[0].offer([offer]));
      const [expected] = model.offer([offer], at);
      expect(answer.map(({ outcome }) => outcome)).toEqual([expected!.outcome]);
      expectInstant('dueAt', answer[0]!.dueAt, expected!.due);
    },
  });
  const settleRepeating = command({
    name: 'settle occurrences',
    args: fc.array(fc.record({ claim: fc.nat({ max: 3 }), at, isDead: fc.boolean(), letter: fc.nat({ max: 2 }) }), {
      minLength: 1,
      maxLength: 3,
    }),
    when: ({ claimHistory }) => claimHistory.length > 0,
    run: async (model, real, chosen) => {
      const held = model.claimHistory.filter((claim) => model.held(claim));
      // Occurrences have names of their own: one and its redriven letter do not end in one call.
      const claims = (held.length > 0 ? held : model.claimHistory).filter(({ id }) => IDS.includes(id));
      if (claims.length === 0) return;
      const settlements = chosen.map((each) => {
        const { id, token } = claims[each.claim % claims.length]!;
        const dead = { letter: `{${id}}@${each.letter}`, failedAttempts: 2 };
        const outcome: Outcome = each.isDead
          ? { kind: 'dead', error: '{"e":3}', next: { at: each.at, ...dead } }
          : { kind: 'ack', next: { at: each.at } };
        return { claim: { id, token }, outcome };
      });
      const { answer, at } = await timed(real, () => real.views[1].settle(settlements));
      expect(answer).toEqual(model.settle(settlements, at));
    },
  });
  return [often(10, repeat), often(14, settleRepeating)];
}
