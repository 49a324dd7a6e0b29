import { afterAll, beforeAll, describe, it } from '@jest/globals';
import fc from 'fast-check';
import type { StoreLimits } from '../../lib/store/message-store.js';
import { abortCommands } from './commands/abort.commands.js';
import { claimCommands } from './commands/claim.commands.js';
import type { Command } from './commands/command.js';
import { deadLetterCommands } from './commands/dead-letter.commands.js';
import { listCommands } from './commands/list.commands.js';
import { offerCommands } from './commands/offer.commands.js';
import { queueCommands } from './commands/queue.commands.js';
import { settleCommands } from './commands/settle.commands.js';
import { expectNoDifference } from './failure-report.js';
import { modelSettings } from './model-settings.js';
import { QueueModel } from './queue-model.js';
import type { RealStore } from './real-queue.js';

const HOUR = 3_600_000;
/** Far more time than the runs take even on a busy machine, because it must also suffice to shrink a failure, ms. */
const PATIENCE = 60_000;
const PATIENCE_PER_RUN = 10_000;
const TIME_TO_TELL = 10_000;

const LIMITS = {
  attempts: fc.constantFrom(2, 3),
  maxDeadLetters: fc.constantFrom(2, 1000),
  maxMessages: fc.constantFrom(null, 6),
  rate: fc.constantFrom(null, null, { max: 3, per: HOUR }, { max: 20, per: HOUR }),
};

const MONTH = 720 * HOUR;
const LIMITS_OF_NATIVE = {
  globalConcurrency: fc.constantFrom(null, null, 1, 3),
  idsFor: fc.constantFrom(null, null, { for: MONTH, max: 1000 }),
  history: fc.constantFrom(
    null,
    { for: MONTH, max: 3, payloads: true },
    { for: MONTH, max: 1000, payloads: true },
    { for: MONTH, max: 5, payloads: false },
  ),
};

const anyLimits: fc.Arbitrary<StoreLimits> = fc.record({ ...LIMITS, ...LIMITS_OF_NATIVE });

/** For layouts that do not limit active messages. */
export const anySimpleLimits: fc.Arbitrary<StoreLimits> = fc.record(LIMITS);

export const anyGroupLimits: fc.Arbitrary<StoreLimits> = fc.record({
  ...LIMITS,
  ...LIMITS_OF_NATIVE,
  groups: fc.record({
    concurrency: fc.constantFrom(1, 1, 2, 1000, null),
    onRetry: fc.constantFrom('hold', 'hold', 'pass'),
  }),
});

function anyCommand({ delays, canAdvance, ownCommands = [] }: RealStore): fc.Arbitrary<Command> {
  return fc.oneof(
    ...offerCommands(delays),
    ...claimCommands(delays),
    ...settleCommands(delays),
    ...abortCommands(),
    ...deadLetterCommands(),
    ...listCommands(),
    ...queueCommands(canAdvance),
    ...ownCommands,
  );
}

/** Runs random commands against a store and a model side by side, and compares the two after each command. */
export function describeModelRun(name: string, openStore: () => RealStore, limitsOfRuns = anyLimits): void {
  const { runs, maxCommands, seed, path, replay } = modelSettings();
  const patience = PATIENCE + runs * PATIENCE_PER_RUN;

  describe(`${name} and the model`, () => {
    let store: RealStore;

    beforeAll(() => {
      store = openStore();
    });
    afterAll(() => store.close());

    it(
      `agree after every command of ${runs} random runs (MODEL_SEED=${seed})`,
      async () => {
        const commands = fc.commands([anyCommand(store)], {
          maxCommands,
          size: 'max',
          replayPath: replay,
        });
        const agreement = fc.asyncProperty(limitsOfRuns, commands, async (drawn, steps) => {
          // Commands may change them.
          const limits = { ...drawn };
          const real = store.openQueue(limits);
          try {
            const model = store.openModel?.(limits) ?? new QueueModel(limits);
            await fc.asyncModelRun(() => ({ model, real }), steps);
          } finally {
            await real.close();
          }
        });
        const details = await fc.check(agreement, {
          numRuns: runs,
          seed,
          path,
          // A long counter-example is better than none.
          interruptAfterTimeLimit: patience - TIME_TO_TELL,
          markInterruptAsFailure: true,
        });
        expectNoDifference(details);
      },
      patience,
    );
  });
}
