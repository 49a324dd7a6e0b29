import { parseArgs } from 'node:util';
import { REDISSON_LINES, type RedissonLine } from '../java-build.js';
import type { Extent } from './measurements.js';

/** What the user asks for. */
export interface Command {
  readonly extent: Extent;
  readonly rounds: number;
  readonly lines: readonly RedissonLine[];
  /** The file for everything that was measured, as JSON. */
  readonly out: string | undefined;
}

export const USAGE = `npm run compare:redisson [-- options]

  --quick       fewer messages, one round
  --rounds n    default 3, quick 1
  --lines a,b   these versions of Redisson: ${REDISSON_LINES.join(', ')}
  --out file    also writes everything that was measured, as JSON
`;

const FULL: Extent = {
  pending: [1000, 300_000],
  offersOfOne: 3000,
  offersOfMany: 30_000,
  dueAtOnce: 2000,
  seconds: 10,
};
const QUICK: Extent = {
  pending: [1000, 30_000],
  offersOfOne: 1000,
  offersOfMany: 10_000,
  dueAtOnce: 2000,
  seconds: 3,
};

/** @throws with words for the user */
export function readCommand(args: string[]): Command {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      lines: { type: 'string' },
      out: { type: 'string' },
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds: give a whole number, 1 or more');
  const chosen = values.lines?.split(',') ?? [...REDISSON_LINES];
  const lines = REDISSON_LINES.filter((line) => chosen.includes(line));
  if (lines.length < chosen.length) throw new Error(`--lines: there are only ${REDISSON_LINES.join(', ')}`);
  return { extent: values.quick ? QUICK : FULL, rounds, lines, out: values.out };
}
