import { types } from 'node:util';
import { type CalendarSettings, originOf, remember } from './origins.js';
import { MalformedBytes, UnreadableValue, UnwritableValue } from './kryo-failures.js';
import type { KryoInput } from './kryo-input.js';
import type { Scalar } from './kryo-serializer.js';

const UUID = /^([\da-f]{8})-([\da-f]{4})-([\da-f]{4})-([\da-f]{4})-([\da-f]{12})$/i;
/** Texts that `new URI()` certainly accepts. */
const URI =
  /^(?:[a-z][a-z\d+.-]*:\/\/[\w.-]+(?::\d{1,5})?)?(?:\/(?:[\w.~!$&'()*+,;=:@/-]|%[\da-f]{2})*)?(?:\?(?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*)?(?:#(?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*)?$/i;
/** Texts with a protocol that every Java knows. */
const URL = /^(?:https?|ftp|file):\/\/\S*$/;
const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
const LOCALE = /^[^_]*(?:_[^_]*(?:_.*)?)?$/s;

export function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new UnwritableValue(`${what} takes text`);
  return value;
}

function present(text: string | null): string {
  if (text === null) throw new MalformedBytes('a text is missing');
  return text;
}

interface TextRules {
  readonly acceptsNull: boolean;
  /** True if Java can certainly make an object of the text. Otherwise it would fail after the message is gone. */
  readonly accepts?: (text: string) => boolean;
}

/** Makes the rules of a class whose objects Kryo writes as text. */
function asText(what: string, { acceptsNull, accepts }: TextRules): Scalar {
  return {
    acceptsNull,
    write(output, value) {
      if (value === null) return output.string(null);
      const text = textOf(value, what);
      if (accepts?.(text) === false) throw new UnwritableValue(`the text is not ${what}`);
      output.string(text);
    },
    read: (input) => (acceptsNull ? input.string() : present(input.string())),
  };
}

function timeOf(value: unknown, what: string): number {
  const time = types.isDate(value) ? Date.prototype.getTime.call(value) : NaN;
  if (Number.isNaN(time)) throw new UnwritableValue(`${what} takes a valid Date`);
  return time;
}

function readDate(input: KryoInput): Date {
  const date = new Date(Number(input.varLong()));
  if (Number.isNaN(date.getTime())) throw new UnreadableValue('a date is out of the range of JavaScript');
  return date;
}

const date = (what: string): Scalar => ({
  write: (output, value) => output.varLong(BigInt(timeOf(value, what))),
  read: readDate,
});

const CALENDAR = 'java.util.GregorianCalendar';

const calendar: Scalar = {
  write(output, value) {
    const settings = originOf(value)?.calendar;
    if (settings === undefined) {
      throw new UnwritableValue('a Calendar can only be offered as it was received: a Date has no time zone');
    }
    output.string(settings.zone);
    output.varLong(BigInt(timeOf(value, 'a Calendar')));
    output.boolean(settings.isLenient);
    output.varInt(settings.firstDayOfWeek);
    output.varInt(settings.minimalDays);
    output.zigzagLong(BigInt(settings.gregorianChange));
  },
  read(input) {
    const zone = present(input.string());
    const time = readDate(input);
    const settings: CalendarSettings = {
      zone,
      isLenient: input.boolean(),
      firstDayOfWeek: input.varInt(),
      minimalDays: input.varInt(),
      gregorianChange: input.zigzagLong(),
    };
    remember(time, { type: CALENDAR, calendar: settings });
    return time;
  },
};

const uuid: Scalar = {
  write(output, value) {
    const parts = UUID.exec(textOf(value, 'a UUID'));
    if (parts === null) throw new UnwritableValue('the text is not a UUID');
    const hex = parts.slice(1).join('');
    output.int64(BigInt(`0x${hex.slice(0, 16)}`));
    output.int64(BigInt(`0x${hex.slice(16)}`));
  },
  read(input) {
    const hex = [input.uint64(), input.uint64()].map((half) => half.toString(16).padStart(16, '0')).join('');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  },
};

/** Text as in `Locale.toString()`: `de_CH`. */
const locale: Scalar = {
  write(output, value) {
    const text = textOf(value, 'a Locale');
    if (!LOCALE.test(text)) throw new UnwritableValue('the text is not a Locale');
    const [language = '', country = '', ...variant] = text.split('_');
    output.string(language);
    output.string(country);
    output.string(variant.join('_'));
  },
  read(input) {
    const parts = [present(input.string()), present(input.string()), present(input.string())];
    if (`${parts[0]}${parts[1]}`.includes('_')) throw new MalformedBytes('a Locale is malformed');
    return parts.join('_').replace(/(?<!_)_+$/, '');
  },
};

/** Null if there is none. */
const byteArray: Scalar = {
  acceptsNull: true,
  write(output, value) {
    if (value === null) return output.byte(0);
    if (!types.isUint8Array(value)) throw new UnwritableValue('a byte[] takes a Buffer or another Uint8Array');
    output.varInt(value.length + 1);
    output.raw(value);
  },
  read(input) {
    const length = input.varInt();
    if (length < 0) throw new MalformedBytes('a byte[] is too long');
    return length === 0 ? null : input.take(length - 1);
  },
};

/** Texts, dates, bytes and the like, by class. */
export const textsAndDates: Readonly<Record<string, Scalar>> = {
  'java.lang.String': asText('a String', { acceptsNull: true }),
  'java.lang.StringBuilder': asText('a StringBuilder', { acceptsNull: true }),
  'java.lang.StringBuffer': asText('a StringBuffer', { acceptsNull: true }),
  'java.util.Currency': asText('a Currency', { acceptsNull: true, accepts: (text) => CURRENCIES.has(text) }),
  'java.net.URI': asText('a URI', { acceptsNull: false, accepts: (text) => URI.test(text) }),
  'java.net.URL': asText('a URL', { acceptsNull: false, accepts: (text) => URL.test(text) }),
  'java.util.UUID': uuid,
  'java.util.Locale': locale,
  'java.util.Date': date('a Date'),
  'java.sql.Timestamp': date('a Timestamp'),
  'java.sql.Date': date('a java.sql.Date'),
  'java.sql.Time': date('a java.sql.Time'),
  [CALENDAR]: calendar,
  '[B': byteArray,
};
