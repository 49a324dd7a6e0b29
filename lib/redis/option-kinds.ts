import { createSecureContext } from 'node:tls';

/** The values that an option accepts. */
export interface OptionKind {
  /** The rule in words, which follow the option's name in an error. */
  readonly rule: string;
  /**
   * Returns the value as ioredis needs it; undefined, or a throw, means that it is not of this kind. Numbers and flags may also be
   * text, as in a URL.
   */
  readonly read: (value: unknown) => unknown;
}

/** The longest delay of a timer of Node.js, ms. */
export const LONGEST_TIMER = 2 ** 31 - 1;

export const wholeNumber = (min: number, max: number): OptionKind => ({
  rule: `must be a whole number from ${min} to ${max}`,
  read: (value) => {
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
    return Number.isInteger(number) && (number as number) >= min && (number as number) <= max ? number : undefined;
  },
});

export const oneOf = (...values: readonly (string | number)[]): OptionKind => ({
  rule: `must be one of ${values.join(', ')}`,
  read: (value) => values.find((each) => each === value || String(each) === value),
});

export const flag: OptionKind = {
  rule: 'must be true or false',
  read: (value) => [true, false].find((each) => each === value || String(each) === value),
};

export const text: OptionKind = {
  rule: 'must be text',
  read: (value) => (typeof value === 'string' ? value : undefined),
};

const IN_OPTIONS = 'which a URL cannot contain: use ioredis options instead';

export const object: OptionKind = {
  rule: `must be an object, ${IN_OPTIONS}`,
  read: (value) => (isObject(value) ? value : undefined),
};

export const list: OptionKind = {
  rule: `must be a list, ${IN_OPTIONS}`,
  read: (value) => (Array.isArray(value) ? value : undefined),
};

export const callback: OptionKind = {
  rule: `must be a function, ${IN_OPTIONS}`,
  read: (value) => (typeof value === 'function' ? value : undefined),
};

export const sentinelList: OptionKind = {
  rule: `must be a list of at least one sentinel, { host, port }, ${IN_OPTIONS}`,
  read: (value) => (Array.isArray(value) && value.length > 0 && value.every(isAddress) ? value : undefined),
};

export const addressMap: OptionKind = {
  rule: `must be an object that maps 'host:port' to { host, port }, or a function, ${IN_OPTIONS}`,
  read: (value) =>
    typeof value === 'function' || (isObject(value) && Object.values(value).every(isAddress)) ? value : undefined,
};

/** TLS options, a flag, or the name of a profile that ioredis knows. */
export const tlsOptions: OptionKind = {
  rule: 'must be TLS options of Node.js, or true',
  read: (value) => {
    const on = flag.read(value);
    if (on !== undefined) return on ? {} : false;
    if (typeof value === 'string') return ['RedisCloudFixed', 'RedisCloudFlexible'].find((name) => name === value);
    if (!isObject(value)) return undefined;
    const { servername } = value as { servername?: unknown };
    createSecureContext(value);
    return servername === undefined || typeof servername === 'string' ? value : undefined;
  },
};

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const port = wholeNumber(1, 65535);

function isAddress(value: unknown): boolean {
  if (!isObject(value)) return false;
  const address = value as { readonly host?: unknown; readonly port?: unknown };
  const { host = '', port: at = 1 } = address;
  return typeof host === 'string' && port.read(at) !== undefined;
}
