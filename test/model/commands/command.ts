import fc from 'fast-check';
import { expectAgreement } from '../agreement.invariant.js';
import type { QueueModel } from '../queue-model.js';
import type { RealQueue } from '../real-queue.js';

export type Command = fc.AsyncCommand<QueueModel, RealQueue>;

/** How a command reads in a counter-example, when it makes sense, and what it does to the real queue and to the model. */
interface Meaning<Args> {
  readonly name: string;
  readonly args: fc.Arbitrary<Args>;
  readonly when?: (model: QueueModel, args: Args) => boolean;
  readonly run: (model: QueueModel, real: RealQueue, args: Args) => Promise<void>;
}

/** Commands of one kind: each does its step to both, compares the answers, and then everything there is to see. */
export function command<Args>({ name, args, when, run }: Meaning<Args>): fc.Arbitrary<Command> {
  return args.map((chosen) => ({
    check: (model) => when?.(model as QueueModel, chosen) ?? true,
    run: async (model, real) => {
      await real.beginStep();
      await run(model, real, chosen);
      await expectAgreement(model, real);
    },
    toString: () => `${name} ${JSON.stringify(chosen)}`,
  }));
}
