import type fc from 'fast-check';
import type { StoreLimits } from '../../lib/store/message-store.js';
import type { Command } from './commands/command.js';

/** fast-check prints commands together with their replay path. */
interface Printed {
  toString(): string;
}

export type ModelArguments = [limits: StoreLimits, commands: Iterable<Command> & Printed];

/** Fails with the shortest counter-example, if one was found. Its cause is the comparison that failed. */
export function expectNoDifference(details: fc.RunDetails<ModelArguments>): void {
  if (details.failed) throw new Error(failureReport(details), { cause: details.errorInstance });
}

/** A readable counter-example, with the settings that reproduce it. */
function failureReport(details: fc.RunDetails<ModelArguments>): string {
  if (!details.counterexample) return `The time was up after ${details.numRuns} runs, and no difference was found.`;
  const [limits, commands] = details.counterexample;
  const [steps, replay] = commands.toString().split('/*replayPath=');
  const settings = {
    MODEL_SEED: details.seed,
    MODEL_PATH: details.counterexamplePath,
    MODEL_REPLAY: /"(.*)"/.exec(replay ?? '')?.[1],
  };
  const again = Object.entries(settings).map(([name, value]) => `${name}='${value ?? ''}'`);
  return [
    `Store and model differ. Found in run ${details.numRuns}, shrunk ${details.numShrinks} times:`,
    `  limits ${JSON.stringify(limits)}`,
    ...(steps ?? '').split(/,(?=[a-z])/).map((step) => `  ${step.trim()}`),
    `To reproduce it: ${again.join(' ')} npm run test:model -- <this file>`,
  ].join('\n');
}
