import type { Exchange } from './exchange.js';
import type { BoardInstance } from './instances.js';
import { badRequest } from './problem.js';

/** A request to the API that has passed all checks. */
export interface Call {
  readonly exchange: Exchange;
  /** The parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The instance that the path names. */
  readonly instance: BoardInstance;
  /** Reads the body of the request. */
  readonly body: () => Promise<unknown>;
}

/** Reads an object with only the given fields. */
export function readObject<T extends object>(
  value: unknown,
  place: string,
  fields: readonly (keyof T & string)[],
): Partial<T> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest(`${place} must be an object.`);
  for (const field of Object.keys(value)) {
    if (!(fields as readonly string[]).includes(field)) {
      throw badRequest(`${place} has no field '${field}'. Its fields are ${fields.join(', ')}.`);
    }
  }
  return value;
}

/** Reads the parameters of a query; those that are empty count as absent. */
export function readQuery<Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const read: Partial<Record<Name, string>> = {};
  for (const [name, value] of query) {
    if (!(names as readonly string[]).includes(name)) {
      throw badRequest(`There is no parameter '${name}'. The parameters are ${names.join(', ')}.`);
    }
    if (value !== '') read[name as Name] = value;
  }
  return read;
}

export function readText(value: unknown, place: string): string {
  if (typeof value === 'string') return value;
  throw badRequest(`${place} must be text.`);
}

/** Reads a whole number of a query. */
export function readNumber(value: string, place: string, [min, max]: readonly [number, number]): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= min && number <= max) return number;
  throw badRequest(`${place} must be a whole number from ${min} to ${max}.`);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** Reads an ISO 8601 time with its zone. */
export function readTime(value: unknown, place: string): Date {
  const time = typeof value === 'string' && TIME.test(value) ? new Date(value) : undefined;
  if (time && !Number.isNaN(time.getTime())) return time;
  throw badRequest(`${place} must be a time such as 2026-03-02T08:00:00Z.`);
}

/** Reads a due time: a delay from now in ms, or a time. */
export function readDue(value: unknown, place: string): Date | number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return Math.round(value);
  if (typeof value === 'string') return readTime(value, place);
  throw badRequest(`${place} must be a delay from now in ms, or a time such as 2026-03-02T08:00:00Z.`);
}

export function readBoolean(value: string, place: string): boolean {
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  throw badRequest(`${place} must be true or false.`);
}
