import type { FaultKind } from '../nemesis/nemesis.js';
import type { SimulationResult } from '../simulation.js';

/** The settings of one run: equal orders give equal runs. */
export interface RunOrder {
  readonly seed: string;
  readonly messages: number;
  /** Undefined: drawn. */
  readonly processes: number | undefined;
  /** True if there are no busy phases. */
  readonly isQuiet: boolean;
  /** The kinds of faults; empty: nothing goes wrong; undefined: all kinds. */
  readonly kinds: readonly FaultKind[] | undefined;
  /** The numbers of the faults that do not happen. */
  readonly without: readonly number[];
  /** The numbers of the only faults that happen; undefined: all those that are not excluded. */
  readonly only: readonly number[] | undefined;
  /** True if the run goes on after a violation. */
  readonly goesOn: boolean;
}

/** The output of a run besides its result: all events, or the story of one message or process. */
export type Narration = { readonly kind: 'trace' } | { readonly kind: 'story'; readonly about: string };

/** The result of a run. */
export interface RunReport extends Omit<SimulationResult, 'scenario'> {
  readonly processes: number;
  /** The time of the run alone, without the start of its process. */
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** MB of the JavaScript heap that are in use at the end, and the most that the process has needed. */
  readonly heap: number;
  readonly peak: number;
}

/** The reports of a run to its parent, a line of JSON each. */
export type RunMessage =
  | { readonly kind: 'progress'; readonly virtualTime: number; readonly lives: number }
  | { readonly kind: 'report'; readonly report: RunReport };

/** The pipe on which a run tells its parent. */
export const PARENT = 3;

/** The options that repeat a run. */
export function optionsOf({ seed, messages, processes, isQuiet, kinds, without, only }: RunOrder): string {
  const faults = kinds && (kinds.length === 0 ? 'none' : kinds.map(dashed).join(','));
  return [
    `--seed ${seed} --messages ${messages}`,
    processes !== undefined && `--processes ${processes}`,
    isQuiet && '--quiet',
    faults !== undefined && `--faults ${faults}`,
    without.length > 0 && `--without ${without.join(',')}`,
    only && `--only ${only.join(',')}`,
  ]
    .filter((option) => option !== false && option !== undefined)
    .join(' ');
}

/** The command that repeats a run. */
export const commandOf = (order: RunOrder): string => `npm run simulate -- ${optionsOf(order)}`;

/** A kind of faults as the command line has it. */
export const dashed = (kind: string): string => kind.replaceAll(' ', '-');
