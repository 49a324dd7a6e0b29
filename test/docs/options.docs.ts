import { describe, expect, test } from '@jest/globals';
import ms from 'ms';
import { readTypedQueueOptions, resolveModuleOptions, resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { encryption } from '../../lib/encryption/index.js';
import { type RedissonOptions, redisson } from '../../packages/redisson/src/index.js';
import { type DocumentedOption, evaluateCode, readDocumentedOptions, readRange } from './documented-options.js';
import { readPage, rowsOf } from './pages.js';

type Given = Readonly<Record<string, unknown>>;

interface OptionSet {
  readonly type: string;
  readonly options: readonly DocumentedOption[];
  /** Refuses invalid options. */
  readonly check: (given: Given) => unknown;
  /** Fills in the defaults. */
  readonly resolve: (given: Given) => object;
}

const moduleOptions: OptionSet = {
  type: 'DelayQueueModuleOptions',
  options: readDocumentedOptions('lib/options/module-options.ts', 'DelayQueueModuleOptions'),
  check: (given) => resolveModuleOptions(given),
  resolve: (given) => resolveModuleOptions(given),
};

const queueOptions: OptionSet = {
  type: 'QueueOptions',
  options: readDocumentedOptions('lib/options/queue-options.ts', 'QueueOptions'),
  check: (given) => readTypedQueueOptions(given, 'options'),
  resolve: (given) => resolveQueueOptions(given),
};

/** The fields of a queue option that is an object. */
function fieldsOf(
  option: 'backoff' | 'rate' | 'groups' | 'history' | 'idsFor',
  place: string,
  required: Given,
): OptionSet {
  const resolve = (given: Given) => {
    return resolveQueueOptions({ [option]: { ...required, ...given } })[option]!;
  };
  const options = readDocumentedOptions('lib/options/queue-options.ts', place).filter(({ name }) => name !== 'type');
  return { type: place, options, check: resolve, resolve };
}

const groupOptions = fieldsOf('groups', 'QueueOptions.groups', {});

const acknowledgeOptions: OptionSet = {
  type: 'DelayQueueModuleOptions.acknowledge',
  options: readDocumentedOptions('lib/options/module-options.ts', 'DelayQueueModuleOptions.acknowledge'),
  check: (given) => resolveModuleOptions({ offerTimeout: '10m', acknowledge: given }),
  resolve: (given) => resolveModuleOptions({ acknowledge: given }).acknowledge!,
};

const redissonOptions: OptionSet = {
  type: 'RedissonOptions',
  options: readDocumentedOptions('packages/redisson/src/redisson-options.ts', 'RedissonOptions'),
  check: (given) => redisson(given),
  resolve: (given) => (redisson(given) as unknown as { readonly options: RedissonOptions }).options,
};

const SETS = [
  moduleOptions,
  acknowledgeOptions,
  queueOptions,
  redissonOptions,
  fieldsOf('backoff', 'BackoffOptions.fixed', { type: 'fixed', delay: 0 }),
  fieldsOf('backoff', 'BackoffOptions.exponential', { type: 'exponential' }),
  fieldsOf('rate', 'QueueOptions.rate', { max: 1, per: '1s' }),
  groupOptions,
  fieldsOf('history', 'QueueOptions.history', { for: '1h' }),
  fieldsOf('idsFor', 'QueueOptions.idsFor', { for: '1h' }),
];

const every = (filter: (option: DocumentedOption) => boolean) =>
  SETS.flatMap(({ type, options, ...set }) =>
    options.filter(filter).map((option) => [`${type}.${option.name}`, option, set] as const),
  );

/** Reads "1 s", "512 MiB" or "1,000". */
function toNumber(limit: string): number {
  const [, digits = '', unit] = /^([\d.,]+) ?(bytes?|MiB)?$/.exec(limit) ?? [];
  if (digits === '') return ms(limit as ms.StringValue);
  return Number(digits.replaceAll(',', '')) * (unit === 'MiB' ? 1024 * 1024 : 1);
}

describe('the comment on an option', () => {
  test.each(every(({ isOptional }) => isOptional))('states the default of %s', (_name, option, { resolve }) => {
    const { name, defaultValue = '' } = option;
    const stated = evaluateCode(defaultValue);
    expect(defaultValue).not.toBe('');
    // Whether it was given is told apart only for the log.
    const wasGiven = { hasDefaultConnection: expect.any(Boolean) as unknown as boolean };
    const known = 'hasDefaultConnection' in resolve({}) ? wasGiven : {};
    expect(resolve({ [name]: stated })).toEqual({ ...resolve({}), ...known });
    // A default in words describes what happens without the option.
    expect(name in resolve({})).toBe(stated !== undefined);
  });

  test.each(every(({ isMeasured, range }) => isMeasured || range !== undefined))(
    'states the range of %s, which validation enforces',
    (_path, { name, range = '' }, { check }) => {
      const { low, high, isLength, word } = readRange(range, toNumber);
      const give = (value: unknown) => () => check({ [name]: isLength ? 'x'.repeat(value as number) : value });
      const refused = expect.objectContaining({ code: 'INVALID_OPTION' });
      // The fraction is for options that need not be whole numbers.
      const steps = isLength ? [1] : [1, 0.001];
      expect(give(low)).not.toThrow();
      for (const step of steps) expect(give(low - step)).toThrow(refused);
      if (high !== undefined) {
        expect(give(high)).not.toThrow();
        for (const step of steps) expect(give(high + step)).toThrow(refused);
      }
      if (word !== undefined) expect(give(word)).not.toThrow();
    },
  );
});

/** The cells of the rows whose first cell is an option, or other code. */
const rowsOn = async (page: string) => rowsOf(await readPage(page));

describe('the table of options', () => {
  test.each([
    ['the module options', moduleOptions, 'docs/options.md'],
    ['the options of acknowledge', acknowledgeOptions, 'docs/options.md'],
    ["a queue's options", queueOptions, 'docs/options.md'],
    ['the options of groups', groupOptions, 'docs/groups.md'],
    ['the options of redisson()', redissonOptions, 'packages/redisson/README.md'],
  ])('lists %s with the wording of their comments', async (_what, { options }, page) => {
    const rows = await rowsOn(page);
    const [first] = options;
    const start = rows.findIndex(([cell]) => cell === `\`${first!.name}\``);
    expect(rows.slice(start, start + options.length)).toEqual(
      options.map(({ name, meaning, range = '', defaultValue }) => [`\`${name}\``, meaning, range, defaultValue]),
    );
  });

  test('has no other rows on the page about options', async () => {
    const all = [moduleOptions, acknowledgeOptions, queueOptions].flatMap(({ options }) => options);
    expect(await rowsOn('docs/options.md')).toHaveLength(all.length);
  });
});

describe('the combinations of options that the page excludes', () => {
  const given: Given = {
    rate: { max: 2, per: '1s' },
    globalConcurrency: 1,
    partitions: 2,
    groups: {},
    expiresAfter: '1h',
    encryption: encryption({ current: null, keys: { k1: Buffer.alloc(32) } }),
    history: { for: '1h' },
    idsFor: { for: '1h' },
    'layout: redisson()': redisson(),
  };
  const options = Object.entries(given).map(([name, value]) => ({ name, option: { [name.split(':')[0]!]: value } }));
  const pairs = options.flatMap((a, i) => options.slice(i + 1).map((b) => ({ name: nameOf([a.name, b.name]), a, b })));

  function nameOf(pair: readonly (string | undefined)[]): string {
    return [...pair].sort().join(' and ');
  }

  test('are exactly those that are rejected', async () => {
    const refused = pairs.filter(({ a, b }) => {
      try {
        resolveQueueOptions({ ...a.option, ...b.option });
        return false;
      } catch {
        return true;
      }
    });
    const [, sentence = ''] = /^- These do not go together: (.*?)\.$/ms.exec(await readPage('docs/options.md')) ?? [];
    const said = sentence.split(';').flatMap((part) => {
      const [first, ...others] = [...part.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
      return others.map((other) => nameOf([first, other]));
    });
    expect(said.sort()).toEqual(refused.map(({ name }) => name).sort());
  });
});
