import type { MessageFilter, MessageState } from 'nestjs-delay-queue';
import type { FilterBody } from './api.js';
import { readBoolean, readObject, readText, readTime } from './call.js';
import { badRequest, Problem } from './problem.js';

const FIELDS = ['state', 'idPrefix', 'type', 'group', 'text', 'due', 'repeats', 'error'] as const;

const STATES: readonly unknown[] = ['delayed', 'ready', 'active', 'dead'] satisfies MessageState[];

/** The parameters of a filter in a URL. */
export const FILTER_PARAMETERS = [
  ...(['state', 'idPrefix', 'type', 'group', 'text', 'dueFrom', 'dueTo', 'repeats'] as const),
  ...(['errorName', 'errorFrame'] as const),
] as const;

/** Reads a filter from the body of a request. The library checks the rest. */
export function readFilter(value: unknown, isRedacted: boolean): MessageFilter {
  const given = readObject<FilterBody>(value, 'filter', FIELDS);
  const { idPrefix, type, group, text, repeats } = given;
  if (text !== undefined && isRedacted) {
    throw new Problem(400, 'REDACTED', 'Text cannot be searched on a board with the option `show`.');
  }
  if (repeats !== undefined && typeof repeats !== 'boolean') throw badRequest('filter.repeats must be true or false.');
  const due =
    given.due === undefined
      ? undefined
      : readObject<NonNullable<FilterBody['due']>>(given.due, 'filter.due', ['from', 'to']);
  const error =
    given.error === undefined
      ? undefined
      : readObject<NonNullable<FilterBody['error']>>(given.error, 'filter.error', ['name', 'frame']);
  return {
    state: readState(given.state),
    ...texts({ idPrefix, type, group, text }),
    ...(repeats !== undefined && { repeats }),
    ...(due && {
      due: {
        ...(due.from !== undefined && { from: readTime(due.from, 'filter.due.from') }),
        ...(due.to !== undefined && { to: readTime(due.to, 'filter.due.to') }),
      },
    }),
    ...(error && { error: { name: readText(error.name, 'filter.error.name'), ...texts({ frame: error.frame }) } }),
  };
}

/** Makes the parameters of a URL the filter of a body. */
export function filterOf(given: Partial<Record<(typeof FILTER_PARAMETERS)[number], string>>): unknown {
  const { dueFrom, dueTo, repeats, errorName, errorFrame, ...others } = given;
  return {
    ...others,
    ...((dueFrom ?? dueTo) !== undefined && { due: { ...named('from', dueFrom), ...named('to', dueTo) } }),
    ...(repeats !== undefined && { repeats: readBoolean(repeats, 'repeats') }),
    ...((errorName ?? errorFrame) !== undefined && {
      error: { name: errorName ?? '', ...named('frame', errorFrame) },
    }),
  };
}

function named<Name extends string>(name: Name, value: string | undefined): object {
  return value === undefined ? {} : { [name]: value };
}

function texts(given: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, readText(value, `filter.${name}`)]));
}

function readState(state: unknown): MessageState {
  if (STATES.includes(state)) return state as MessageState;
  throw badRequest(`state must be one of ${STATES.join(', ')}.`);
}
