/** What values an option takes. */
export interface OptionKind {
  /** For the error's text, after the option's name. */
  readonly rule: string;
  /** The value as ioredis wants it; undefined: it is not of this kind. Numbers and flags also come as text, as in a URL. */
  readonly read: (value: unknown) => unknown;
}

/** The longest length of time that a timer of Node.js takes, ms. */
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

/** An object, a list or a function, which a URL cannot hold. */
export const structure: OptionKind = {
  rule: 'must be an object, a list or a function: give ioredis options rather than a URL',
  read: (value) => (['object', 'function'].includes(typeof value) ? value : undefined),
};

export const anything: OptionKind = { rule: 'must be given', read: (value) => value };
