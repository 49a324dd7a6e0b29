import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { FAULT_KINDS, type FaultKind } from '../nemesis/nemesis.js';
import { dashed, type Narration, type RunOrder } from './run-order.js';

export const USAGE = `Simulates processes, a store and a network in virtual time, from a seed, and judges what happens.

npm run simulate -- [options]

  --seed TEXT         simulate this seed (default: a fresh one for each core)
  --seeds FROM-TO     simulate each of these seeds, one process for each core
  --seeds COUNT       simulate that many fresh seeds
  --jobs COUNT        how many seeds run at a time (default: the number of cores)
  --messages COUNT    how many messages each run offers (default: 50000)
  --processes COUNT   how many processes an application has, 1 to 50 (default: drawn, 1 to 5)
  --quiet             no busy phases: fewer messages a minute, and more faults for each of them
  --faults KINDS      all (default), none, or kinds separated by commas:
                      ${wrap(FAULT_KINDS.map(dashed))}
  --without NUMBERS   leave out the faults with these numbers, separated by commas
  --only NUMBERS      leave out all faults but these
  --go-on             go on after a violation
  --trace             print everything that happens
  --about ID          print what happens to one message or process
  --shrink            find a small case that breaks the same promise, if the run breaks one
  --help              print this text

Exit code: 0 all promises kept; 1 a promise broken, or a run crashed or hung; 2 an option is wrong.`;

/** The request to the command. */
export interface CommandOptions {
  readonly orders: readonly RunOrder[];
  readonly jobs: number;
  /** Undefined: only results are printed. */
  readonly narration: Narration | undefined;
  readonly shrinks: boolean;
}

/** An option that does not mean anything. */
export class OptionError extends Error {}

/** @returns undefined if help is wanted */
export function readOptions(args: readonly string[]): CommandOptions | undefined {
  const values = parse(args);
  if (values.help) return undefined;
  const { seed, seeds, trace, about } = values;
  if (seed !== undefined && seeds !== undefined)
    throw new OptionError('--seed and --seeds exclude each other: give one of them.');
  if (seed === '') throw new OptionError('--seed is empty: give any text without spaces, such as 7.');
  if (seed !== undefined && /\s/.test(seed)) throw new OptionError('--seed must not contain spaces.');
  if (trace && about !== undefined) throw new OptionError('--trace and --about exclude each other: give one of them.');
  if ((trace || about !== undefined) && seed === undefined)
    throw new OptionError(`${trace ? '--trace' : '--about'} tells of one run: give its --seed.`);
  if (about !== undefined && !/^[mp]\d+$/.test(about))
    throw new OptionError(`--about ${about}: give the id of a message, such as m123, or of a process, such as p1.`);
  if (values.only !== undefined && values.without !== undefined)
    throw new OptionError('--only and --without exclude each other: give one of them.');
  const jobs = count('jobs', values.jobs, { default: availableParallelism(), max: 1000 });
  const order = {
    messages: count('messages', values.messages, { default: 50_000, max: 1_000_000_000 }),
    processes: values.processes === undefined ? undefined : count('processes', values.processes, { max: 50 }),
    isQuiet: values.quiet ?? false,
    kinds: kindsOf(values.faults ?? 'all'),
    without: numbers('without', values.without) ?? [],
    only: numbers('only', values.only),
    goesOn: values['go-on'] ?? false,
  };
  const chosen = seed === undefined ? seedsOf(seeds, jobs) : [seed];
  return {
    ...{ orders: chosen.map((each) => ({ seed: each, ...order })), jobs, shrinks: values.shrink ?? false },
    narration: trace ? { kind: 'trace' } : about === undefined ? undefined : { kind: 'story', about },
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string' },
        seeds: { type: 'string' },
        jobs: { type: 'string' },
        messages: { type: 'string' },
        processes: { type: 'string' },
        quiet: { type: 'boolean' },
        faults: { type: 'string' },
        without: { type: 'string' },
        only: { type: 'string' },
        about: { type: 'string' },
        trace: { type: 'boolean' },
        shrink: { type: 'boolean' },
        'go-on': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new OptionError(`${(error as Error).message.split('. ')[0]}. --help lists the options.`);
  }
}

function count(name: string, text: string | undefined, limits: { readonly default?: number; readonly max: number }) {
  if (text === undefined && limits.default !== undefined) return limits.default;
  const value = Number(text);
  if (text === '' || !Number.isInteger(value) || value < 1 || value > limits.max)
    throw new OptionError(`--${name} ${text}: give a whole number from 1 to ${limits.max}.`);
  return value;
}

function numbers(name: string, text: string | undefined): number[] | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+(,\d+)*$/.test(text))
    throw new OptionError(`--${name} ${text}: give numbers of faults separated by commas, such as 3,5.`);
  return text.split(',').map(Number);
}

function kindsOf(text: string): readonly FaultKind[] | undefined {
  if (text === 'all') return undefined;
  if (text === 'none') return [];
  const known = new Map(FAULT_KINDS.map((kind) => [dashed(kind), kind]));
  return text.split(',').map((name) => {
    const kind = known.get(dashed(name.trim()));
    if (!kind) throw new OptionError(`--faults ${name}: give all, none, or some of ${[...known.keys()].join(', ')}.`);
    return kind;
  });
}

/** @param text - a range, or how many fresh ones; undefined: one for each job */
function seedsOf(text: string | undefined, jobs: number): string[] {
  const range = /^(\d+)-(\d+)$/.exec(text ?? '');
  if (!range) {
    if (text !== undefined && !/^[1-9]\d{0,5}$/.test(text))
      throw new OptionError(`--seeds ${text}: give a range such as 1-20, or how many fresh seeds to draw, such as 12.`);
    return Array.from({ length: Number(text ?? jobs) }, () => String(randomInt(2 ** 31)));
  }
  const [from, to] = [Number(range[1]), Number(range[2])];
  if (from > to) throw new OptionError(`--seeds ${text}: the first seed must not be greater than the last.`);
  if (to - from >= 1_000_000) throw new OptionError(`--seeds ${text}: give at most 1000000 seeds.`);
  return Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
}

function wrap(words: readonly string[]): string {
  const lines = [''];
  for (const word of words) {
    if (lines.at(-1)!.length + word.length > 60) lines.push('');
    lines.push(`${lines.pop()!}${word}, `);
  }
  return lines.join('\n                      ').replace(/, $/, '').replaceAll(', \n', ',\n');
}
