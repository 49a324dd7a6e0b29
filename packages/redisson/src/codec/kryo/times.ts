import {
  type Clock,
  clockOf,
  type Day,
  dayOf,
  durationOf,
  isClock,
  isDay,
  isNano,
  isOffset,
  MAX_OFFSET,
  offsetOf,
  parsed,
  printClock,
  printDay,
  printDuration,
  printNano,
  printOffset,
  printYear,
  splitDateTime,
  two,
  valid,
  YEARS,
  zoneOf,
} from './iso-times.js';
import { MalformedBytes, UnreadableValue, UnwritableValue } from './kryo-failures.js';
import { isInt64 } from './int64.js';
import type { KryoInput } from './kryo-input.js';
import type { KryoOutput } from './kryo-output.js';
import type { Scalar } from './kryo-serializer.js';
import { rangedOf } from './numbers.js';

const GREATEST_INT = 2 ** 31 - 1;
/** The seconds of the years 0000 to 9999, which Java and JavaScript print alike. */
const INSTANTS = [-62_167_219_200, 253_402_300_799] as const;
const QUARTER = 900;
const NO_QUARTER = 127;
const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/;
const PERIOD = /^P(?=.)(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)D)?$/;

function checked<Part>(part: Part, isValid: (part: Part) => boolean): Part {
  if (!isValid(part)) throw new MalformedBytes('a date or time is out of range');
  return part;
}

function writeDay(output: KryoOutput, { year, month, day }: Day): void {
  output.varInt(year);
  output.byte(month);
  output.byte(day);
}

function readDay(input: KryoInput): Day {
  return checked({ year: input.varInt(), month: input.int8(), day: input.int8() }, isDay);
}

/** Omits trailing zeros, and inverts what precedes them. */
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

function writeOffset(output: KryoOutput, total: number): void {
  if (total % QUARTER === 0) return output.byte((total / QUARTER) & 0xff);
  output.byte(NO_QUARTER);
  output.int32(total);
}

function readOffset(input: KryoInput): number {
  const quarters = input.int8();
  return checked(
    quarters === NO_QUARTER ? input.int32() : quarters * QUARTER,
    (total) => Math.abs(total) <= MAX_OFFSET,
  );
}

function readZone(input: KryoInput): string {
  const id = input.string();
  if (id === null) throw new MalformedBytes('a time zone is missing');
  return id;
}

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
      const [time, offset] = parsed(/^([\d:.]+)([^\d:.].*)$/, value, 'an OffsetTime');
      writeClock(output, clockOf(time, 'an OffsetTime'));
      writeOffset(output, offsetOf(offset));
    },
    read: (input) => printClock(readClock(input)) + printOffset(readOffset(input)),
  },
  'java.time.OffsetDateTime': {
    write(output, value) {
      const [date, time, offset] = parsed(/^([^T]+)T([\d:.]+)([^\d:.].*)$/, value, 'an OffsetDateTime');
      writeDay(output, dayOf(date, 'an OffsetDateTime'));
      writeClock(output, clockOf(time, 'an OffsetDateTime'));
      writeOffset(output, offsetOf(offset));
    },
    read: (input) => `${printDay(readDay(input))}T${printClock(readClock(input))}${printOffset(readOffset(input))}`,
  },
  'java.time.ZonedDateTime': {
    write(output, value) {
      const [date, time, offset, zone] = parsed(
        /^([^T]+)T([\d:.]+)(?:\[([^\]]+)\]|([^\d:.].*))$/,
        value,
        'a ZonedDateTime',
      );
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
