import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MemoryMessageStore } from '../../lib/store/memory/memory-store.js';
import type { Claim, Outcome } from '../../lib/store/consumer-store.js';
import { ManualClock } from '../support/manual-clock.js';
import { isThorough } from '../support/thorough.js';

/** Drawn anew each time. */
const RUNS = isThorough ? 2000 : 300;
const LIMITS = { attempts: 1000, maxDeadLetters: 1000, maxMessages: null, rate: null };
/** Due at once. */
const due = { at: 0 };

type Step = 'follow' | 'claim' | 'ack' | 'dead' | 'retry' | 'release' | 'cancel' | 'late ack';
const steps: readonly Step[] = ['follow', 'claim', 'ack', 'dead', 'retry', 'release', 'cancel', 'late ack'];

/** One id: the payload and state of its message, and the payload of its follower. */
interface Model {
  message?: { payload: number; state: 'waiting' | 'active' | 'dead' } | undefined;
  follower?: number | undefined;
}

/** Applies a step to the model. */
function apply(model: Model, step: Step, payload: number): void {
  const { message } = model;
  if (step === 'follow') {
    if (!message) model.message = { payload, state: 'waiting' };
    else if (message.state === 'active') model.follower = payload;
  } else if (step === 'cancel') {
    model.follower = undefined;
    if (message?.state === 'waiting') model.message = undefined;
  } else if (step === 'claim') {
    if (message?.state === 'waiting') message.state = 'active';
  } else if (message?.state === 'active' && step !== 'late ack') {
    if (step === 'retry' || step === 'release') message.state = 'waiting';
    else if (model.follower !== undefined) {
      model.message = { payload: model.follower, state: 'waiting' };
      model.follower = undefined;
    } else if (step === 'ack') model.message = undefined;
    else message.state = 'dead';
  }
}

describe('followers of one id', () => {
  it(`agree with a small model after every step of ${RUNS} random runs`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...steps), { minLength: 5, maxLength: 40 }), async (chosen) => {
        const store = new MemoryMessageStore({ limits: LIMITS, clock: new ManualClock() });
        const model: Model = {};
        const claims: Claim[] = [];
        const settle = (claim: Claim | undefined, outcome: Outcome) => claim && store.settle([{ claim, outcome }]);
        for (const [payload, step] of chosen.entries()) {
          if (step === 'follow') await store.offer([{ id: 'a', due, onDuplicate: 'follow', body: `J${payload}` }]);
          else if (step === 'cancel') {
            // A ready message cannot be cancelled, so messages become ready only right before a claim.
            const expected = model.follower !== undefined || model.message?.state === 'waiting';
            if ((await store.find('a'))?.state !== 'ready') expect(await store.cancel('a')).toBe(expected);
            else continue;
          } else if (step === 'claim') {
            await store.transfer({ limit: 9 });
            const token = `token-${payload}`;
            const { messages } = await store.claim({ token, limit: 9, lease: 1000 });
            if (messages.length > 0) claims.unshift({ id: 'a', token });
          } else if (step === 'late ack') await settle(claims[1], { kind: 'ack' });
          else if (step === 'dead') await settle(claims[0], { kind: 'dead', error: '{}' });
          else if (step === 'retry') await settle(claims[0], { kind: 'retry', delay: 0 });
          else await settle(claims[0], { kind: step });
          apply(model, step, payload);

          const found = await store.find('a');
          const state = found && (found.state === 'delayed' || found.state === 'ready' ? 'waiting' : found.state);
          expect(found ? { payload: Number(found.body.subarray(1).toString()), state } : undefined).toEqual(
            model.message,
          );
        }
      }),
      { numRuns: RUNS },
    );
  });
});
