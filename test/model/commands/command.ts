import fc from 'fast-check';
import { expectAgreement } from '../agreement.invariant.js';
import type { QueueModel } from '../queue-model.js';
import type { RealQueue } from '../real-queue.js';

export type Command = fc.AsyncCommand<QueueModel, RealQueue>;

/** Commands of one kind, and their frequency compared with others. */
export interface WeightedCommands {
  readonly weight: number;
  readonly arbitrary: fc.Arbitrary<Command>;
}

export function often(weight: number, arbitrary: fc.Arbitrary<Command>): WeightedCommands {
  return { weight, arbitrary };
}

/** A command's name in counter-examples, when it makes sense, and what it does to the queue and the model. */
interface Meaning<Args> {
  readonly name: string;
  readonly args: fc.Arbitrary<Args>;
  readonly when?: (model: QueueModel, args: Args) => boolean;
  readonly run: (model: QueueModel, real: RealQueue, args: Args) => Promise<void>;
}

/** Commands of one kind. Each one acts on both, compares the answers, and then everything observable, announcements included. */
export function command<Args>({ name, args, when, run }: Meaning<Args>): fc.Arbitrary<Command> {
  return args.map((chosen) => ({
    check: (model) => when?.(model as QueueModel, chosen) ?? true,
    run: async (model, real) => {
      await real.listener.listening;
      real.listener.forget();
      await real.beginStep();
      const headBefore = earliestDue(model);
      await run(model, real, chosen);
      await expectAgreement(model, real);
      const head = earliestDue(model);
      if (head < headBefore) await real.listener.untilAnnounced(head);
    },
    toString: () => `${name} ${JSON.stringify(chosen)}`,
  }));
}

function earliestDue(model: QueueModel): number {
  return model.in('delayed')[0]?.due.exact ?? Infinity;
}
