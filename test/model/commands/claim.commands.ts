import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { ClaimReport, ClaimRequest } from '../../../lib/store/consumer-store.js';
import { expectInstants, known, seen } from '../agreement.invariant.js';
import type { Moment } from '../instant.js';
import type { ModelMessage, QueueModel } from '../queue-model.js';
import { timed } from '../real-queue.js';
import { command, often, type WeightedCommands } from './command.js';

/** An index into all claims, latest first, so that most are still held and some are long lost. */
const anyClaim = fc.nat({ max: 9 });
const CONSUMERS = [0, 1] as const;

/** The commands of consumers, except for settling. */
export function claimCommands(delays: readonly number[]): WeightedCommands[] {
  const consumer = fc.constantFrom(...CONSUMERS);
  const lease = fc.constantFrom(...delays);
  const limit = fc.constantFrom(1, 2, 3, 3, 0);

  const claim = command({
    name: 'claim',
    args: fc.record({ consumer, limit, lease }),
    run: async (model, real, { consumer, ...rest }) => {
      const request = { token: newToken(model, consumer), ...rest };
      const { answer, at } = await timed(real, () => real.views[consumer].claim(request));
      expectClaimed(model, request, answer, at);
    },
  });

  const claimAgain = command({
    name: 'claim again after a lost answer',
    args: fc.record({ consumer, limit, lease }),
    run: async (model, real, { consumer, ...rest }) => {
      const supersedes = lastToken(model, consumer);
      const request = { token: newToken(model, consumer), supersedes, ...rest };
      const { answer, at } = await timed(real, () => real.views[consumer].claim(request));
      expectClaimed(model, request, answer, at);
    },
  });

  const claimLate = command({
    name: 'a claim arrives after its replacement',
    args: fc.record({ limit, lease }),
    when: ({ ended }) => ended.size > 0,
    run: async (model, real, { limit, lease }) => {
      const token = [...model.ended].at(-1)!;
      const { answer, at } = await timed(real, () => real.views[1].claim({ token, limit, lease }));
      const { more } = model.claim([], { token, limit, lease }, at);
      expect(answer).toEqual({ messages: [], more, now: expect.any(Number), orphans: [] });
    },
  });

  const transferAndClaim = command({
    name: 'transfer and claim',
    args: fc.record({
      consumer,
      limit: fc.constantFrom(1, 2, 3, 9),
      lease,
      isFresh: fc.boolean(),
    }),
    run: async (model, real, { consumer, limit, lease, isFresh }) => {
      const view = real.views[consumer];
      if (!view.transferAndClaim) return;
      const token = isFresh ? newToken(model, consumer) : lastToken(model, consumer);
      const request = { token, limit, lease };
      const { answer, at } = await timed(real, () => view.transferAndClaim!(request));
      const taken = model.transferAndClaim(request, at);
      expect(answer?.claimed.messages.map(seen)).toEqual(taken?.messages.map(known));
      if (!answer || !taken) return;
      answer.claimed.messages.forEach((message, index) => expectInstants(message, taken.messages[index]!));
      const { moved, recovered, deadLettered, more, ready, nextAt } = answer.report;
      const idle = { recovered: 0, deadLettered: [], ready: 0 };
      expect({ moved, recovered, deadLettered, more, ready }).toEqual({
        ...idle,
        moved: taken.messages.length,
        more: taken.more,
      });
      // The end of the new lease is seen only below.
      if (moved === 0) expect(nextAt).toBe(model.nextInstant?.exact ?? null);
    },
  });

  const extend = command({
    name: 'extend',
    args: fc.record({ claims: fc.array(anyClaim, { minLength: 1, maxLength: 3 }), lease }),
    when: ({ claimHistory }) => claimHistory.length > 0,
    run: async (model, real, { claims, lease }) => {
      const extended = claims.map((each) => model.claimHistory[each % model.claimHistory.length]!);
      const { answer, at } = await timed(real, () => real.views[0].extend(extended, lease));
      const lost = model.extend(extended, lease, at);
      expect(answer).toEqual(lost);
    },
  });

  const crash = command({
    name: 'wake and crash',
    args: fc.constant(null),
    run: async (model, real) => {
      await real.takeWakeSignal();
      model.wakeSignal = 'none';
    },
  });

  return [
    often(18, claim),
    often(6, claimAgain),
    often(2, claimLate),
    often(12, transferAndClaim),
    often(3, extend),
    often(3, crash),
  ];
}

/** Tokens consist of their consumer and a number. */
function newToken(model: QueueModel, consumer: 0 | 1): string {
  return `${consumer}-${++model.claimsMade[consumer]}`;
}

function lastToken(model: QueueModel, consumer: 0 | 1): string {
  return `${consumer}-${model.claimsMade[consumer]}`;
}

function expectClaimed(model: QueueModel, request: ClaimRequest, report: ClaimReport, at: Moment) {
  const { messages, more, orphans, claimAgainIn } = report;
  const ids = messages.map(({ id }) => id);
  const held = request.supersedes === undefined ? [] : model.heldBy(request.supersedes).map(({ id }) => id);
  if (held.length > 0) {
    expect(ids).toEqual(held.slice(0, request.limit));
  } else {
    const claimable = model.claimable(request.limit, at);
    expect(ids.length).toBeLessThanOrEqual(claimable);
    expect(ids.length).toBeGreaterThanOrEqual(model.readyList.isVague ? Math.min(1, claimable) : claimable);
    model.identify(ids, at);
    expect([ids, model.readyList.mayBeginWith(ids)]).toEqual([ids, true]);
  }
  const taken = ids.map((id): ModelMessage => model.messages.get(id)!);
  expect(messages.map(seen)).toEqual(taken.map(known));
  messages.forEach((message, index) => expectInstants(message, taken[index]!));
  const waits = claimAgainIn !== undefined;
  expect({ more, waits, orphans }).toEqual({ ...model.claim(taken, request, at), orphans: [] });
}
