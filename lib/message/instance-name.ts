import { DelayQueueError } from './delay-queue-errors.js';
import { showGiven } from './show-given.js';

/** The internal name of the instance without a name. */
export const UNNAMED = '';

export const INSTANCE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

export const INSTANCE_NAME_RULE = '1–64 of the characters A–Z a–z 0–9 _ -';

/** Reads the name that a user gave; undefined stands for the instance without a name. Throws `INVALID_OPTION`, naming the place. */
export function readInstanceName(given: unknown, place: string): string {
  if (given === undefined) return UNNAMED;
  if (typeof given === 'string' && INSTANCE_NAME.test(given)) return given;
  const problem = `must be ${INSTANCE_NAME_RULE}, not ${showGiven(given)}`;
  throw new DelayQueueError('INVALID_OPTION', `${place} ${problem}`);
}

/** Says that no instance has this name, and lists those that exist. */
export function showUnknownInstance(name: string, known: readonly string[]): string {
  return name === UNNAMED
    ? `each DelayQueueModule.forRoot() has a name, so one of them must be given: ${showInstances(known)}`
    : `there is no DelayQueueModule.forRoot({ name: '${name}' }), only ${showInstances(known)}`;
}

export function showInstances(names: readonly string[]): string {
  return names.map((name) => (name === UNNAMED ? 'the one without a name' : `'${name}'`)).join(', ');
}
