import { createSecureContext } from 'node:tls';

/** The values that an option accepts. Numbers and flags may also be text, as in a URL. */
export interface OptionKind {
  /** What the value must be; follows the option's name in an error. */
  readonly rule: string;
  /** Returns the value as ioredis needs it. If it returns undefined, or throws, the value is not of this kind. */
  readonly read: (value: unknown) => unknown;
  /** True if text, which is all that a URL contains, never is of this kind. */
  readonly needsOptions?: true;
}

const kind = (rule: string, accepts: (value: unknown) => boolean): OptionKind => ({
  rule,
  read: (value) => (accepts(value) ? value : undefined),
});

const sameOf = (values: readonly unknown[], given: unknown) =>
  values.find((each) => each === given || String(each) === given);

const notInUrls = (rule: string, accepts: (value: unknown) => boolean): OptionKind => ({
  ...kind(rule, accepts),
  needsOptions: true,
});

/** A name or an address alone: with a port or a scheme, no host would be found. */
export const hostName = kind(
  'must be the name or the address of a host, without a scheme or a port',
  (value) => typeof value === 'string' && !/^$|^undefined$|\/|^[^:]*:\d*$/.test(value),
);

export const text = kind('must be text', (value) => typeof value === 'string');
export const object = notInUrls('must be an object', isObject);
export const list = notInUrls('must be a list', Array.isArray);
export const callback = notInUrls('must be a function', (value) => typeof value === 'function');

export const flag: OptionKind = {
  rule: 'must be true or false',
  read: (value) => sameOf([true, false], value),
};

export const oneOf = (...values: readonly (string | number)[]): OptionKind => ({
  rule: `must be one of ${values.join(', ')}`,
  read: (value) => sameOf(values, value),
});

export const wholeNumber = (min: number, max: number): OptionKind => ({
  rule: `must be a whole number from ${min} to ${max}`,
  read: (value) => {
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
    return Number.isInteger(number) && (number as number) >= min && (number as number) <= max ? number : undefined;
  },
});

export const port = wholeNumber(1, 65535);

export const sentinelList = notInUrls(
  "must be a list of at least one sentinel, such as [{ host: 'sentinel-1', port: 26379 }]",
  (value) => Array.isArray(value) && value.length > 0 && value.every(isAddress),
);

export const addressMap = notInUrls(
  "must be an object that maps 'host:port' to { host, port }, or a function",
  (value) => typeof value === 'function' || (isObject(value) && Object.values(value).every(isAddress)),
);

/** TLS options, a flag, or the name of a profile that ioredis knows. */
export const tlsOptions: OptionKind = {
  rule: 'must be TLS options of Node.js, or true',
  read: (value) => {
    const on = flag.read(value);
    if (on !== undefined) return on ? {} : false;
    if (typeof value === 'string') return sameOf(['RedisCloudFixed', 'RedisCloudFlexible'], value);
    if (!isObject(value)) return undefined;
    const { servername } = value as { servername?: unknown };
    createSecureContext(value);
    return servername === undefined || typeof servername === 'string' ? value : undefined;
  },
};

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isAddress(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { host = '', port: at = 1 } = value as { readonly host?: unknown; readonly port?: unknown };
  return typeof host === 'string' && port.read(at) !== undefined;
}
