import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { Outcome, Settlement } from '../../../lib/store/message-store.js';
import { IDS } from '../agreement.invariant.js';
import type { QueueModel } from '../queue-model.js';
import { timed } from '../real-queue.js';
import { command, type Command } from './command.js';

/** Which claim of all there were, the latest first; sometimes its token is used for another message. */
const anyClaim = fc.record({
  claim: fc.nat({ max: 9 }),
  ofId: fc.option(fc.constantFrom(...IDS), { freq: 12, nil: undefined }),
});

export function settleCommands(delays: readonly number[]): fc.Arbitrary<Command>[] {
  const delay = fc.constantFrom(...delays);
  const outcome = fc.oneof<fc.Arbitrary<Outcome>[]>(
    fc.constant({ kind: 'ack' }),
    fc.record({ kind: fc.constant('retry'), delay }),
    fc.record({ kind: fc.constant('defer'), delay }),
    fc.record({ kind: fc.constant('dead'), error: fc.constantFrom('{"e":1}', '{"e":2}') }),
  );
  const settle = command({
    name: 'settle',
    args: fc.array(fc.record({ of: anyClaim, outcome }), { minLength: 1, maxLength: 4 }),
    when: ({ claimHistory }) => claimHistory.length > 0,
    run: async (model, real, chosen) => {
      const settlements = chosen.map((each) => settlement(model, each));
      const { answer, at } = await timed(real, () => real.views[1].settle(settlements));
      expect(answer).toEqual(model.settle(settlements, at));
    },
  });
  return [settle, settle, settle];
}

interface Chosen {
  readonly of: { readonly claim: number; readonly ofId: string | undefined };
  readonly outcome: Outcome;
}

function settlement({ claimHistory }: QueueModel, { of, outcome }: Chosen): Settlement {
  const { id, token } = claimHistory[of.claim % claimHistory.length]!;
  return { claim: { id: of.ofId ?? id, token }, outcome };
}
