import { MalformedBytes, UnreadableValue, UnwritableValue } from './kryo-failures.js';
import { type Int64, isInt64 } from './int64.js';
import type { KryoInput } from './kryo-input.js';
import type { KryoOutput } from './kryo-output.js';
import type { Scalar } from './kryo-serializer.js';
import { rangedOf } from './numbers.js';

interface Clock {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nano: number;
}

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const NANOS = 1_000_000_000n;
const YEARS = [-999_999_999, 999_999_999] as const;
const GREATEST_INT = 2 ** 31 - 1;
/** The seconds of the years 0000 to 9999, which Java and JavaScript print alike. */
const INSTANTS = [-62_167_219_200, 253_402_300_799] as const;
const QUARTER = 900;
const NO_QUARTER = 127;
const LONGEST_OFFSET = 18 * 3600;

const DATE = /^([+-]?\d{4,9})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?$/;
const OFFSET = /^(?:Z|([+-])(\d\d):(\d\d)(?::(\d\d))?)$/;
const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/;
const DURATION = /^PT(?=.)(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?)(\d+)(?:\.(\d{1,9}))?S)?$/;
const PERIOD = /^P(?=.)(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)D)?$/;
const ZONE = /^(?:[A-Z][\w+-]*(?:\/[A-Z][\w+-]*)*|(?:UTC|GMT|UT)[+-]\d{1,2}(?::\d\d){0,2})$/;

function parsed(pattern: RegExp, value: unknown, what: string): (string | undefined)[] {
  const found = typeof value === 'string' ? pattern.exec(value) : null;
  if (found === null) throw new UnwritableValue(`the value is not the ISO text of ${what}`);
  return found.slice(1);
}

const two = (number: number) => String(number).padStart(2, '0');

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isDay({ year, month, day }: Day): boolean {
  const isYear = year >= YEARS[0] && year <= YEARS[1];
  return isYear && month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
}

function isClock({ hour, minute, second, nano }: Clock): boolean {
  const isNano = nano >= 0 && nano < Number(NANOS);
  return isNano && hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
}

function checked<Part>(part: Part, isValid: (part: Part) => boolean): Part {
  if (!isValid(part)) throw new MalformedBytes('a date or time is out of range');
  return part;
}

function valid<Part>(part: Part, isValid: (part: Part) => boolean): Part {
  if (!isValid(part)) throw new UnwritableValue('the date or time is out of range');
  return part;
}

function printYear(year: number): string {
  const digits = String(Math.abs(year)).padStart(4, '0');
  if (year < 0) return `-${digits}`;
  return year > 9999 ? `+${digits}` : digits;
}

function printNano(nano: number): string {
  if (nano === 0) return '';
  const digits = String(nano).padStart(9, '0');
  return `.${digits.replace(/(?:000){1,2}$/, '')}`;
}

function printDay({ year, month, day }: Day): string {
  return `${printYear(year)}-${two(month)}-${two(day)}`;
}

function printClock({ hour, minute, second, nano }: Clock): string {
  const seconds = second === 0 && nano === 0 ? '' : `:${two(second)}${printNano(nano)}`;
  return `${two(hour)}:${two(minute)}${seconds}`;
}

function dayOf(text: unknown, what: string): Day {
  const [year, month, day] = parsed(DATE, text, what);
  return valid({ year: Number(year), month: Number(month), day: Number(day) }, isDay);
}

function clockOf(text: unknown, what: string): Clock {
  const [hour, minute, second = '0', fraction = ''] = parsed(TIME, text, what);
  const nano = Number(fraction.padEnd(9, '0'));
  return valid({ hour: Number(hour), minute: Number(minute), second: Number(second), nano }, isClock);
}

function writeDay(output: KryoOutput, { year, month, day }: Day): void {
  output.varInt(year);
  output.byte(month);
  output.byte(day);
}

function readDay(input: KryoInput): Day {
  return checked({ year: input.varInt(), month: input.int8(), day: input.int8() }, isDay);
}

/** What follows is left out where it is 0, and what precedes it is inverted. */
function writeClock(output: KryoOutput, { hour, minute, second, nano }: Clock): void {
  const parts = [hour, minute, second];
  if (nano === 0) {
    while (parts.length > 1 && parts.at(-1) === 0) parts.pop();
    parts.push(~parts.pop()!);
  }
  for (const part of parts) output.byte(part & 0xff);
  if (nano !== 0) output.varInt(nano);
}

function readClock(input: KryoInput): Clock {
  const parts = [0, 0, 0];
  for (let i = 0; i < 3; i++) {
    const part = input.int8();
    parts[i] = part < 0 ? ~part : part;
    if (part < 0) return clock(parts, 0);
  }
  return clock(parts, input.varInt());
}

function clock([hour, minute, second]: number[], nano: number): Clock {
  return checked({ hour: hour!, minute: minute!, second: second!, nano }, isClock);
}

/** Whether a text is that of a ZoneOffset. */
export function isOffset(text: string): boolean {
  return OFFSET.test(text);
}

function offsetOf(text: unknown): number {
  const [sign, hours = '0', minutes = '0', seconds = '0'] = parsed(OFFSET, text, 'a ZoneOffset');
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  if (total > LONGEST_OFFSET || Number(minutes) > 59 || Number(seconds) > 59) {
    throw new UnwritableValue('the ZoneOffset is out of range');
  }
  return sign === '-' ? -total : total;
}

function printOffset(total: number): string {
  if (total === 0) return 'Z';
  const absolute = Math.abs(total);
  const seconds = absolute % 60 === 0 ? '' : `:${two(absolute % 60)}`;
  return `${total < 0 ? '-' : '+'}${two(Math.floor(absolute / 3600))}:${two(Math.floor(absolute / 60) % 60)}${seconds}`;
}

function writeOffset(output: KryoOutput, total: number): void {
  if (total % QUARTER === 0) return output.byte((total / QUARTER) & 0xff);
  output.byte(NO_QUARTER);
  output.int32(total);
}

function readOffset(input: KryoInput): number {
  const quarters = input.int8();
  return checked(
    quarters === NO_QUARTER ? input.int32() : quarters * QUARTER,
    (total) => Math.abs(total) <= LONGEST_OFFSET,
  );
}

/** A time zone by its id, which Java must know. */
function zoneOf(text: string): string {
  if (OFFSET.test(text)) return text;
  try {
    if (ZONE.test(text) && (/^(?:UTC|GMT|UT)/.test(text) || new Intl.DateTimeFormat('en', { timeZone: text })))
      return text;
  } catch {
    // Refused below.
  }
  throw new UnwritableValue('the text is not the id of a time zone');
}

function readZone(input: KryoInput): string {
  const id = input.string();
  if (id === null) throw new MalformedBytes('a time zone is missing');
  return id;
}

function splitDateTime(text: unknown, what: string): [date: string, time: string] {
  const [date = '', time = ''] = parsed(/^([^T]+)T(.+)$/, text, what);
  return [date, time];
}

function durationOf(value: unknown): { seconds: bigint; nano: number } {
  const [hours = '0', minutes = '0', sign, seconds = '0', fraction = ''] = parsed(DURATION, value, 'a Duration');
  const nanos = (BigInt(seconds) * NANOS + BigInt(fraction.padEnd(9, '0'))) * (sign === '-' ? -1n : 1n);
  const total = (BigInt(hours) * 3600n + BigInt(minutes) * 60n) * NANOS + nanos;
  const nano = ((total % NANOS) + NANOS) % NANOS;
  return { seconds: (total - nano) / NANOS, nano: Number(nano) };
}

/** As `Duration.toString()` prints it. */
function printDuration(seconds: Int64, nano: number): string {
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
          .replace(/0+$/, '')}`;
  const last = whole % 60n === 0n && rest === 0n ? '' : `${sign}${whole % 60n}${fraction}S`;
  return `PT${hours === 0n ? '' : `${hours}H`}${minutes === 0n ? '' : `${minutes}M`}${last}`;
}

const isNano = (nano: number) => nano >= 0 && nano < Number(NANOS);

const year = (output: KryoOutput, text: string | number | undefined, what: string) =>
  output.varInt(rangedOf(typeof text === 'string' ? Number(text) : text, what, YEARS));

/** Classes of java.time, by class. All but Year have the text that Java prints. */
export const times: Readonly<Record<string, Scalar>> = {
  'java.time.Instant': {
    write(output, value) {
      const [text, fraction = ''] = parsed(INSTANT, value, 'an Instant');
      const time = Date.parse(`${text}Z`);
      if (Number.isNaN(time)) throw new UnwritableValue('the Instant is out of range');
      output.varLong(BigInt(time / 1000));
      output.varInt(Number(fraction.padEnd(9, '0')));
    },
    read(input) {
      const seconds = Number(input.varLong());
      const nano = checked(input.varInt(), isNano);
      if (seconds < INSTANTS[0] || seconds > INSTANTS[1])
        throw new UnreadableValue('an Instant is beyond the year 9999');
      return new Date(seconds * 1000).toISOString().replace('.000Z', `${printNano(nano)}Z`);
    },
  },
  'java.time.Duration': {
    write(output, value) {
      const { seconds, nano } = durationOf(value);
      if (!isInt64(seconds)) throw new UnwritableValue('the Duration is out of range');
      output.int64(seconds);
      output.varInt(nano);
    },
    read: (input) => printDuration(input.int64(), checked(input.varInt(), isNano)),
  },
  'java.time.Period': {
    write(output, value) {
      const parts = parsed(PERIOD, value, 'a Period').map((part = '0') => Number(part));
      for (const part of parts) output.varInt(rangedOf(part, 'a Period', [-GREATEST_INT - 1, GREATEST_INT]));
    },
    read(input) {
      const parts = [...'YMD'].map((unit) => [input.varInt(), unit] as const).filter(([count]) => count !== 0);
      return `P${parts.map((part) => part.join('')).join('') || '0D'}`;
    },
  },
  'java.time.LocalDate': {
    write: (output, value) => writeDay(output, dayOf(value, 'a LocalDate')),
    read: (input) => printDay(readDay(input)),
  },
  'java.time.LocalTime': {
    write: (output, value) => writeClock(output, clockOf(value, 'a LocalTime')),
    read: (input) => printClock(readClock(input)),
  },
  'java.time.LocalDateTime': {
    write(output, value) {
      const [date, time] = splitDateTime(value, 'a LocalDateTime');
      writeDay(output, dayOf(date, 'a LocalDateTime'));
      writeClock(output, clockOf(time, 'a LocalDateTime'));
    },
    read: (input) => `${printDay(readDay(input))}T${printClock(readClock(input))}`,
  },
  'java.time.OffsetTime': {
    write(output, value) {
      const [time, offset] = parsed(/^([\d:.]+)(.+)$/, value, 'an OffsetTime');
      writeClock(output, clockOf(time, 'an OffsetTime'));
      writeOffset(output, offsetOf(offset));
    },
    read: (input) => printClock(readClock(input)) + printOffset(readOffset(input)),
  },
  'java.time.OffsetDateTime': {
    write(output, value) {
      const [date, time, offset] = parsed(/^([^T]+)T([\d:.]+)(.+)$/, value, 'an OffsetDateTime');
      writeDay(output, dayOf(date, 'an OffsetDateTime'));
      writeClock(output, clockOf(time, 'an OffsetDateTime'));
      writeOffset(output, offsetOf(offset));
    },
    read: (input) => `${printDay(readDay(input))}T${printClock(readClock(input))}${printOffset(readOffset(input))}`,
  },
  'java.time.ZonedDateTime': {
    write(output, value) {
      const [date, time, offset, zone] = parsed(/^([^T]+)T([\d:.]+)(?:\[([^\]]+)\]|(.+))$/, value, 'a ZonedDateTime');
      writeDay(output, dayOf(date, 'a ZonedDateTime'));
      writeClock(output, clockOf(time, 'a ZonedDateTime'));
      output.string(zone === undefined ? zoneOf(offset!) : printOffset(offsetOf(zone)));
    },
    read(input) {
      const dateTime = `${printDay(readDay(input))}T${printClock(readClock(input))}`;
      const zone = readZone(input);
      return isOffset(zone) ? dateTime + zone : `${dateTime}[${zone}]`;
    },
  },
  'java.time.Year': {
    write: (output, value) => output.varInt(rangedOf(value, 'a Year', YEARS)),
    read: (input) => checked(input.varInt(), (read) => read >= YEARS[0] && read <= YEARS[1]),
  },
  'java.time.YearMonth': {
    write(output, value) {
      const [first, month] = parsed(/^([+-]?\d{4,9})-(\d\d)$/, value, 'a YearMonth');
      year(output, first, 'a YearMonth');
      output.byte(rangedOf(Number(month), 'a month', [1, 12]));
    },
    read(input) {
      const { year: first, month } = checked({ year: input.varInt(), month: input.int8(), day: 1 }, isDay);
      return `${printYear(first)}-${two(month)}`;
    },
  },
  'java.time.MonthDay': {
    write(output, value) {
      const [month, day] = parsed(/^--(\d\d)-(\d\d)$/, value, 'a MonthDay');
      const found = valid({ year: 2024, month: Number(month), day: Number(day) }, isDay);
      output.byte(found.month);
      output.byte(found.day);
    },
    read(input) {
      const { month, day } = checked({ year: 2024, month: input.int8(), day: input.int8() }, isDay);
      return `--${two(month)}-${two(day)}`;
    },
  },
  'java.time.ZoneOffset': {
    write: (output, value) => writeOffset(output, offsetOf(value)),
    read: (input) => printOffset(readOffset(input)),
  },
  'java.time.ZoneRegion': {
    write(output, value) {
      if (typeof value !== 'string') throw new UnwritableValue('a ZoneId takes text');
      output.string(zoneOf(value));
    },
    read: readZone,
  },
};
