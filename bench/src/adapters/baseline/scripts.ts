import type { Redis } from 'ioredis';
import { readFileSync } from 'node:fs';

const KEYS = {
  delayed: 'baseline:delayed',
  messages: 'baseline:messages',
  ready: 'baseline:ready',
  active: 'baseline:active',
};

/** Announces a message that falls due before all others. */
export const CHANNEL = 'baseline:due';
export const DELAYED = KEYS.delayed;

/** The keys of each script, in the order of its header. */
const SCRIPTS = {
  offer: [KEYS.delayed, KEYS.messages],
  transfer: [KEYS.delayed, KEYS.ready],
  claim: [KEYS.ready, KEYS.active, KEYS.messages],
  settle: [KEYS.active, KEYS.messages],
  cancel: [KEYS.delayed, KEYS.messages],
};

type Run = (name: keyof typeof SCRIPTS, args: readonly (string | number)[]) => Promise<unknown>;

/** Loads the scripts, to be called by their digests. */
export async function loadScripts(redis: Redis): Promise<Run> {
  const digests = new Map<string, string>();
  for (const name of Object.keys(SCRIPTS)) {
    const source = readFileSync(new URL(`lua/${name}.lua`, import.meta.url), 'utf8');
    digests.set(name, (await redis.script('LOAD', source)) as string);
  }
  return (name, args) => redis.call('EVALSHA', digests.get(name)!, SCRIPTS[name].length, ...SCRIPTS[name], ...args);
}
