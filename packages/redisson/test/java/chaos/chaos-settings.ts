import { parseArgs } from 'node:util';
import { REDISSON_LINES, type RedissonLine } from '../java-build.js';

/** How a chaos run goes. */
export interface ChaosSettings {
  readonly line: RedissonLine;
  /** The time for which messages are offered and processes are killed, ms. */
  readonly lasts: number;
  /** The number of messages that both sides offer together. */
  readonly messages: number;
  /** The time from one kill to the next, ms. */
  readonly killEvery: number;
  readonly seed: number;
}

/** The settings of a command line: `--minutes 10 --messages 100000 --kill-every 3 --redisson 4 --seed 1`. */
export function chaosSettings(args: readonly string[]): ChaosSettings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '10' },
      messages: { type: 'string', default: '100000' },
      'kill-every': { type: 'string', default: '3' },
      redisson: { type: 'string', default: '4' },
      seed: { type: 'string', default: '1' },
    },
  });
  const line = REDISSON_LINES.find((known) => known === values.redisson);
  if (!line) throw new Error(`--redisson: must be one of ${REDISSON_LINES.join(', ')}`);
  return {
    line,
    lasts: positive('minutes', values.minutes) * 60_000,
    messages: positive('messages', values.messages),
    killEvery: positive('kill-every', values['kill-every']) * 1000,
    seed: positive('seed', values.seed),
  };
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`--${name}: must be a number above 0, not '${text}'`);
  return number;
}
