import { UnwritableValue } from './kryo-failures.js';
import type { Int64 } from './int64.js';

/** A time of day. */
export interface Clock {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nano: number;
}

/** A date. */
export interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const NANOS = 1_000_000_000n;
export const YEARS = [-999_999_999, 999_999_999] as const;
export const MAX_OFFSET = 18 * 3600;

const DATE = /^([+-]?\d{4,9})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?$/;
const OFFSET = /^(?:Z|([+-])(\d\d):(\d\d)(?::(\d\d))?)$/;
const DURATION = /^PT(?=.)(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?)(\d+)(?:\.(\d{1,9}))?S)?$/;
const ZONE = /^(?:[A-Z][\w+-]*(?:\/[A-Z][\w+-]*)*|(?:UTC|GMT|UT)[+-]\d{1,2}(?::\d\d){0,2})$/;

/** Returns the groups of a text that must match. */
export function parsed(pattern: RegExp, value: unknown, what: string): (string | undefined)[] {
  const found = typeof value === 'string' ? pattern.exec(value) : null;
  if (found === null) throw new UnwritableValue(`the value is not ISO text for ${what}`);
  return found.slice(1);
}

export const two = (number: number) => String(number).padStart(2, '0');

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

export function isDay({ year, month, day }: Day): boolean {
  const isYear = year >= YEARS[0] && year <= YEARS[1];
  return isYear && month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
}

export function isClock({ hour, minute, second, nano }: Clock): boolean {
  return isNano(nano) && hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
}

export const isNano = (nano: number) => nano >= 0 && nano < Number(NANOS);

/** Returns a part of a value to write, if it is valid. */
export function valid<Part>(part: Part, isValid: (part: Part) => boolean): Part {
  if (!isValid(part)) throw new UnwritableValue('the date or time is out of range');
  return part;
}

export function printYear(year: number): string {
  const digits = String(Math.abs(year)).padStart(4, '0');
  if (year < 0) return `-${digits}`;
  return year > 9999 ? `+${digits}` : digits;
}

export function printNano(nano: number): string {
  if (nano === 0) return '';
  const digits = String(nano).padStart(9, '0');
  return `.${digits.replace(/(?:000){1,2}$/, '')}`;
}

export function printDay({ year, month, day }: Day): string {
  return `${printYear(year)}-${two(month)}-${two(day)}`;
}

export function printClock({ hour, minute, second, nano }: Clock): string {
  const seconds = second === 0 && nano === 0 ? '' : `:${two(second)}${printNano(nano)}`;
  return `${two(hour)}:${two(minute)}${seconds}`;
}

export function dayOf(text: unknown, what: string): Day {
  const [year, month, day] = parsed(DATE, text, what);
  return valid({ year: Number(year), month: Number(month), day: Number(day) }, isDay);
}

export function clockOf(text: unknown, what: string): Clock {
  const [hour, minute, second = '0', fraction = ''] = parsed(TIME, text, what);
  const nano = Number(fraction.padEnd(9, '0'));
  return valid({ hour: Number(hour), minute: Number(minute), second: Number(second), nano }, isClock);
}

/** True if a text is that of a ZoneOffset. */
export function isOffset(text: string): boolean {
  return OFFSET.test(text);
}

export function offsetOf(text: unknown): number {
  const [sign, hours = '0', minutes = '0', seconds = '0'] = parsed(OFFSET, text, 'a ZoneOffset');
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  if (total > MAX_OFFSET || Number(minutes) > 59 || Number(seconds) > 59) {
    throw new UnwritableValue('the ZoneOffset is out of range');
  }
  return sign === '-' ? -total : total;
}

export function printOffset(total: number): string {
  if (total === 0) return 'Z';
  const absolute = Math.abs(total);
  const seconds = absolute % 60 === 0 ? '' : `:${two(absolute % 60)}`;
  return `${total < 0 ? '-' : '+'}${two(Math.floor(absolute / 3600))}:${two(Math.floor(absolute / 60) % 60)}${seconds}`;
}

/** Reads a time zone by its id, which Java must know. */
export function zoneOf(text: string): string {
  if (OFFSET.test(text)) return text;
  try {
    if (ZONE.test(text) && (/^(?:UTC|GMT|UT)/.test(text) || new Intl.DateTimeFormat('en', { timeZone: text })))
      return text;
  } catch {
    // Refused below.
  }
  throw new UnwritableValue('the text is not the id of a time zone');
}

export function splitDateTime(text: unknown, what: string): [date: string, time: string] {
  const [date = '', time = ''] = parsed(/^([^T]+)T(.+)$/, text, what);
  return [date, time];
}

export function durationOf(value: unknown): { seconds: bigint; nano: number } {
  const [hours = '0', minutes = '0', sign, seconds = '0', fraction = ''] = parsed(DURATION, value, 'a Duration');
  const nanos = (BigInt(seconds) * NANOS + BigInt(fraction.padEnd(9, '0'))) * (sign === '-' ? -1n : 1n);
  const total = (BigInt(hours) * 3600n + BigInt(minutes) * 60n) * NANOS + nanos;
  const nano = ((total % NANOS) + NANOS) % NANOS;
  return { seconds: (total - nano) / NANOS, nano: Number(nano) };
}

/** Prints as `Duration.toString()` does. */
export function printDuration(seconds: Int64, nano: number): string {
  const total = BigInt(seconds) * NANOS + BigInt(nano);
  if (total === 0n) return 'PT0S';
  const whole = total / NANOS;
  const rest = total % NANOS;
  const hours = whole / 3600n;
  const minutes = (whole / 60n) % 60n;
  const sign = rest < 0n && whole % 60n === 0n ? '-' : '';
  const fraction =
    rest === 0n
      ? ''
      : `.${String(rest < 0n ? -rest : rest)
          .padStart(9, '0')
          .replace(/(?<!0)0+$/, '')}`;
  const last = whole % 60n === 0n && rest === 0n ? '' : `${sign}${whole % 60n}${fraction}S`;
  return `PT${hours === 0n ? '' : `${hours}H`}${minutes === 0n ? '' : `${minutes}M`}${last}`;
}
