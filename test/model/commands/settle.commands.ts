import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { MessageBody } from '../../../lib/message/codec/message-codec.js';
import type { Outcome, Settlement } from '../../../lib/store/consumer-store.js';
import { IDS } from '../agreement.invariant.js';
import type { QueueModel } from '../queue-model.js';
import { timed } from '../real-queue.js';
import { command, often, type WeightedCommands } from './command.js';

/** An index into the claims held or into all claims, latest first; sometimes with another message's id. */
const anyClaim = fc.record({
  claim: fc.nat({ max: 5 }),
  held: fc.boolean(),
  ofId: fc.option(fc.constantFrom(...IDS), { freq: 6, nil: undefined }),
});

export function settleCommands(delays: readonly number[]): WeightedCommands[] {
  const delay = fc.constantFrom(...delays);
  const body = fc.constantFrom('J"once more"', Buffer.from('J"as\\nbytes"'));
  const error = fc.constantFrom('{"e":1}', '{"e":2}');
  const outcome = fc.oneof<fc.Arbitrary<Outcome>[]>(
    fc.constant({ kind: 'ack' }),
    fc.constant({ kind: 'release' }),
    fc.record({ kind: fc.constant('retry'), delay }),
    fc.record({ kind: fc.constant('defer'), delay }),
    fc.record({ kind: fc.constant('again'), delay }),
    fc.record({ kind: fc.constant('again'), delay, body }),
    fc.record({ kind: fc.constant('defer'), delay, body }),
    fc.record({ kind: fc.constant('dead'), error }),
    fc.record({ kind: fc.constant('dead'), error, body }),
    fc.record({ kind: fc.constant('dead'), error, by: fc.constant('lease') }),
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
  return [often(18, settle)];
}

interface Chosen {
  readonly of: { readonly claim: number; readonly held: boolean; readonly ofId: string | undefined };
  readonly outcome: Outcome;
}

function settlement(model: QueueModel, { of, outcome }: Chosen): Settlement {
  const held = model.claimHistory.filter((claim) => model.held(claim));
  const claims = of.held && held.length > 0 ? held : model.claimHistory;
  const claim = claims[of.claim % claims.length]!;
  const { ofId = claim.id } = of;
  return {
    claim: ofId === claim.id ? claim : model.claimOf(ofId, claim.token),
    outcome: 'body' in outcome ? { ...outcome, body: laterBody(model, ofId, outcome.body!) } : outcome,
  };
}

function laterBody(model: QueueModel, id: string, body: MessageBody): MessageBody {
  const later = model.laterBody(id, body.toString());
  return typeof body === 'string' ? later : Buffer.from(later);
}
