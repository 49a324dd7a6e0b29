import type { FilterBody, StateName } from '../../../src/api.js';
import { STATES } from '../../parts/state-badge.js';

/** The names of a filter's fields, in the page's address and in the API's. */
export const FIELDS = [
  'state',
  'idPrefix',
  'type',
  'group',
  'text',
  'dueFrom',
  'dueTo',
  'repeats',
  'errorName',
  'errorFrame',
] as const;
type Field = (typeof FIELDS)[number];

/** A filter as the address has it; empty fields are absent. */
export type Filter = Readonly<Partial<Record<Field, string>>> & { readonly state: StateName };

export function readFilter(query: URLSearchParams): Filter {
  const fields = FIELDS.map((field) => [field, query.get(field) ?? ''] as const);
  const given = Object.fromEntries(fields.filter(([, value]) => value !== '')) as Partial<Record<Field, string>>;
  return { ...given, state: STATES.find((state) => state === given.state) ?? 'delayed' };
}

/** True if a filter leaves out some messages of its state. */
export function isNarrow(filter: Filter): boolean {
  return FIELDS.some((field) => field !== 'state' && filter[field] !== undefined);
}

/** The filter as jobs want it. */
export function bodyOf(filter: Filter): FilterBody {
  const { state, idPrefix, type, group, text, dueFrom, dueTo, repeats, errorName, errorFrame } = filter;
  return {
    state,
    ...(idPrefix !== undefined && { idPrefix }),
    ...(type !== undefined && { type }),
    ...(group !== undefined && { group }),
    ...(text !== undefined && { text }),
    ...((dueFrom ?? dueTo) !== undefined && {
      due: { ...(dueFrom !== undefined && { from: dueFrom }), ...(dueTo !== undefined && { to: dueTo }) },
    }),
    ...(repeats !== undefined && { repeats: repeats === 'true' }),
    ...(errorName !== undefined && {
      error: { name: errorName, ...(errorFrame !== undefined && { frame: errorFrame }) },
    }),
  };
}
