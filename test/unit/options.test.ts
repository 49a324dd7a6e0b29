import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { DelayQueueError } from '../../lib/message/delay-queue-errors.js';
import type { DelayQueueModuleOptions } from '../../lib/options/module-options.js';
import type { QueueOptions } from '../../lib/options/queue-options.js';
import { resolveModuleOptions, resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { nativeLayout } from '../../lib/store/native/native-layout.js';

function messageOf(options: unknown): string {
  try {
    resolveModuleOptions(options as DelayQueueModuleOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(DelayQueueError);
    expect(error).toHaveProperty('code', 'INVALID_OPTION');
    return (error as Error).message;
  }
  throw new Error('accepted');
}

describe('an error about options', () => {
  it.each([
    [{ defaults: { concurency: 1 } }, 'defaults.concurency is not an option; did you mean concurrency?'],
    [{ queues: { orders: { attempts: 'x' } }, prefix: 'a{b}' }, 'prefix must be'],
  ])('says what to change and reveals nothing about the validator when it is printed: %j', (options, expected) => {
    let printed = '';
    try {
      resolveModuleOptions(options as DelayQueueModuleOptions);
    } catch (error) {
      printed = inspect(error);
    }
    expect(printed).toContain(expected);
    expect(printed).not.toMatch(/zod|\[cause\]|issues/i);
  });

  it('has the error of a throwing getter as its cause', () => {
    const thrown = new Error('mine');
    const options = {
      get prefix(): string {
        throw thrown;
      },
    };
    expect(() => resolveModuleOptions(options)).toThrow(expect.objectContaining({ cause: thrown }));
  });
});

describe('the module options', () => {
  it('are all optional', () => {
    expect(resolveModuleOptions({})).toMatchObject({
      connection: 'redis://127.0.0.1:6379',
      store: 'redis',
      prefix: 'delay-queue',
      allowEviction: false,
      consume: true,
      shutdownTimeout: 10_000,
      offerTimeout: 5000,
    });
  });

  it.each<[unknown, string]>([
    [{ conection: 'redis://x' }, 'conection is not an option'],
    [{ store: 'sqlite' }, "store must be 'redis' or 'memory'"],
    [{ prefix: 'a{b}' }, 'prefix must be 1–64 of the characters'],
    [{ consume: 'no' }, 'consume must be true or false'],
    [{ shutdownTimeout: '5 parsecs' }, "shutdownTimeout is not a duration: use milliseconds or text such as '30s'"],
    [{ offerTimeout: 1 }, 'offerTimeout must be between 10 ms and 10 min, not 1'],
    [{ acknowledge: true }, 'acknowledge must be { replicas?, within?, fsync? }, such as { replicas: 1 }, not true'],
    [{ acknowledge: { replica: 1 } }, 'acknowledge.replica is not an option'],
    [{ acknowledge: { replicas: 0 } }, 'acknowledge.replicas must be at least 1, or fsync true'],
    [{ acknowledge: { replicas: 1.5 } }, 'acknowledge.replicas must be a whole number from 0 to 100'],
    [{ acknowledge: { within: '6s' } }, 'acknowledge.within must not be longer than offerTimeout'],
    [{ acknowledge: { fsync: 'yes' } }, 'acknowledge.fsync must be true or false'],
    [{ connection: 'localhost:6379' }, 'connection must start with redis:// or rediss://'],
    [{ connection: 6379 }, 'connection must be a redis:// or rediss:// URL'],
    [{ connection: { cluster: { nodes: [] } } }, 'connection.cluster.nodes must be a non-empty array'],
    [{ connection: { keyPrefix: 'x:' } }, 'connection.keyPrefix would not apply to the names of channels'],
    [{ defaults: { concurrency: 0 } }, 'defaults.concurrency must be a whole number from 1 to 1000'],
    [{ defaults: { concurrency: '16' } }, 'defaults.concurrency must be a whole number from 1 to 1000'],
    [{ defaults: { lease: '10ms' } }, "defaults.lease must be between 1 s and 24 h, not '10ms'"],
    [{ defaults: { leese: '10s' } }, 'defaults.leese is not an option'],
    [{ queues: { orders: { attempts: 1.5 } } }, 'queues.orders.attempts must be a whole number from 1 to 1000000'],
    [{ queues: { orders: { attempt: 3 } } }, 'queues.orders.attempt is not an option'],
    [{ queues: { 'or{d}ers': {} } }, 'a queue name has 1–128 of the characters'],
    [
      { queues: { orders: { backoff: { type: 'linear' } } } },
      "queues.orders.backoff.type must be 'fixed' or 'exponential'",
    ],
    [
      { queues: { orders: { backoff: 5 } } },
      "queues.orders.backoff must be { type: 'fixed', delay, jitter? }, { type: 'exponential', delay?,",
    ],
    [{ queues: { orders: { backoff: { type: 'fixed' } } } }, 'queues.orders.backoff.delay is not a duration'],
    [{ queues: { orders: { backoff: { type: 'exponential', factor: 0 } } } }, 'queues.orders.backoff.factor must be'],
    [
      { queues: { orders: { timeout: 'never' } } },
      "queues.orders.timeout is not a duration: use milliseconds or text such as '30s', '10m' or '2h', with one of the units ms, s, m (minutes), h, d, w, y, not 'never'; or 'unlimited'",
    ],
    [{ queues: { orders: { maxMessages: 0 } } }, 'queues.orders.maxMessages must be a whole number from 1'],
    [{ queues: { orders: { rate: 100 } } }, "queues.orders.rate must be { max, per }, such as { max: 100, per: '1s' }"],
    [{ queues: { orders: { rate: { max: 100 } } } }, 'queues.orders.rate.per is not a duration'],
    [{ queues: { orders: { rate: { max: 0.5, per: '1s' } } } }, 'queues.orders.rate.max must be a whole number from 1'],
    [
      { queues: { orders: { rate: { max: 1, per: 99 } } } },
      'queues.orders.rate.per must be between 100 ms and 24 h, not 99',
    ],
    [{ queues: { orders: { rate: { max: 1, per: '1s', burst: 2 } } } }, 'queues.orders.rate.burst is not an option'],
    [
      { queues: { orders: { globalConcurrency: 0 } } },
      'queues.orders.globalConcurrency must be a whole number from 1 to 10000, not 0',
    ],
    [{ queues: { orders: { layout: 'wide' } } }, "queues.orders.layout must be 'native' or a layout object"],
    [{ queues: { orders: 5 } }, 'queues.orders'],
    [{ queues: { orders: { layout: redisson } } }, "queues.orders.layout must be 'native' or a layout object"],
    [
      { queues: { q: { codec: 'jackson' } } },
      'queues.q.codec is not an option; it is an option of a layout: give it to the function that makes the layout',
    ],
    [{ defaults: { format: 'dLc0' } }, 'give it to the function that makes the layout'],
    [{ defaults: { layout: redisson({ name: 'q' }) } }, 'defaults.layout cannot be shared by all queues'],
    [{ defaults: { backoff: '100ms' } }, "such as { type: 'fixed', delay: '1s' }, not '100ms'"],
    [{ defaults: { backoff: { delay: 1 } } }, "defaults.backoff.type must be 'fixed' or 'exponential', such as"],
    [
      { defaults: { rate: '100/s' } },
      "defaults.rate must be { max, per }, such as { max: 100, per: '1s' }, or 'unlimited', not '100/s'",
    ],
    [
      { defaults: { groups: true } },
      "defaults.groups must be { concurrency?, onRetry?, rate? }, such as { concurrency: 1 }, or 'off', not true",
    ],
    [{ defaults: { groups: { rate: { max: 10 } } } }, 'defaults.groups.rate.per is not a duration: use milliseconds'],
    [
      { defaults: { groups: { concurrency: 'unlimited', rate: { max: 10, per: '1s' } } } },
      'defaults.groups.concurrency must be at most 1000 with a rate',
    ],
    [{ defaults: { groups: { concurrency: '2' } } }, "or 'unlimited', not '2': convert the text with Number()"],
    [
      { defaults: { concurrency: '5' } },
      "must be a whole number from 1 to 1000, not '5': convert the text with Number()",
    ],
    [{ defaults: { concurrency: NaN } }, 'defaults.concurrency must be a whole number from 1 to 1000, not NaN'],
    [{ defaults: { maxMessages: 0 } }, 'defaults.maxMessages must be a whole number from 1, not 0'],
    [{ defaults: { maxPayloadBytes: '256kb' } }, "must be a whole number from 1 to 536870912, not '256kb'"],
    [{ defaults: { timeout: '1M' } }, "m (minutes), h, d, w, y, not '1M'; or 'unlimited'"],
    [{ defaults: { expiresAfter: new Date() } }, "not a Date; or 'never'"],
    [{ defaults: { lease: '30' } }, "must be between 1 s and 24 h, not '30', which is 30 ms: add a unit"],
    [{ defaults: { onExpired: 'delete' } }, "defaults.onExpired must be 'drop' or 'dead', not 'delete'"],
    [
      { defaults: { layout: 'redisson' } },
      "or a layout object, made by the package that has the layout, not 'redisson'",
    ],
    [
      { defaults: [] },
      'defaults must be an object with options of the queue, such as { concurrency: 8 }, not an empty',
    ],
    [
      { queues: [] },
      'queues must be an object with options by queue name, such as { orders: { concurrency: 8 } }, not an',
    ],
    [{ queues: ['orders'] }, 'such as { orders: { concurrency: 8 } }, not an array'],
    [{ queues: new Map() }, 'such as { orders: { concurrency: 8 } }, not an instance of Map'],
    [{ consume: 'false' }, "consume must be true or false, not 'false': compare the text, as in value === 'true'"],
    [{ observers: {} }, 'observers must be an array of observers, not an object'],
    [{ calendar: 'croner' }, "such as the calendar of 'nestjs-delay-queue/calendar', not 'croner'"],
    [
      { concurrency: 5 },
      'concurrency is not an option; it is an option of queues: set it in `defaults`, or in `queues`',
    ],
    [
      { defaults: { batch: 5 } },
      'defaults.batch is not an option; it is an option of handlers: give it to @DelayedHandler()',
    ],
    [
      { defaults: { consume: true } },
      'defaults.consume is not an option; it is an option of the module: give it to forRoot()',
    ],
    [{ host: 'redis' }, 'host is not an option; it says where Redis is: set it in `connection`'],
    [{ url: 'redis://redis' }, 'url is not an option; it says where Redis is: set it in `connection`'],
    [{ defaults: { retries: 3 } }, 'defaults.retries is not an option; use attempts, which includes the first one'],
    [{ acknowledge: { foo: 3 } }, 'acknowledge.foo is not an option; the options are replicas, within, fsync'],
    [{ store: 'redis://:secret@redis' }, "store must be 'redis' or 'memory', not a URL"],
    [null, 'the options must be an object with options, such as'],
  ])('are rejected with an error that names the field and the fix: %j', (options, problem) => {
    expect(messageOf(options)).toContain(problem);
  });

  it('are rejected with an error that lists all mistakes at once', () => {
    const message = messageOf({ prefix: '', defaults: { attempts: 0 } });
    expect(message).toContain('prefix must be');
    expect(message).toContain('defaults.attempts must be');
  });
});

describe('the options of a queue', () => {
  it('have defaults', () => {
    expect(resolveQueueOptions()).toEqual({
      concurrency: 16,
      globalConcurrency: null,
      partitions: 1,
      rate: null,
      groups: null,
      lease: 30_000,
      attempts: 5,
      backoff: { type: 'exponential', delay: 1000, factor: 2, maxDelay: 3_600_000, jitter: 0.2 },
      timeout: null,
      expiresAfter: null,
      onExpired: 'drop',
      unknownTypeGrace: 24 * 3_600_000,
      maxPayloadBytes: 262_144,
      maxMessages: null,
      maxDeadLetters: 10_000,
      history: null,
      idsFor: null,
      checkInterval: 60_000,
      blockTimeout: 25_000,
      layout: nativeLayout,
      encryption: null,
    });
  });

  it('may include a rate with partitions if each partition has a share, and messages have no groups', () => {
    const rate = { max: 4, per: '1s' };
    expect(resolveQueueOptions({ rate, partitions: 4 }).rate).toEqual({ max: 4, per: 1000 });
    expect(() => resolveQueueOptions({ rate, partitions: 5 })).toThrow(
      'rate max must be at least 5, the number of partitions: each has an equal share',
    );
    expect(() => resolveQueueOptions({ rate, partitions: 4, groups: {} })).toThrow(
      "rate must be 'unlimited' with partitions and groups",
    );
  });

  it('may not include a global concurrency with partitions, or in a layout that cannot keep to it', () => {
    expect(() => resolveQueueOptions({ globalConcurrency: 5, partitions: 2 })).toThrow(
      "globalConcurrency must be 'unlimited' with partitions: no claim sees all active messages",
    );
    expect(() => resolveQueueOptions({ globalConcurrency: 5, layout: redisson() })).toThrow(
      "globalConcurrency must be 'unlimited' with layout 'redisson'",
    );
    expect(resolveQueueOptions({ globalConcurrency: 5 }, { globalConcurrency: 'unlimited' })).toMatchObject({
      globalConcurrency: null,
    });
  });

  it('may include a rate, which a later layer can replace as a whole or remove', () => {
    const rate = { max: 100, per: '1s' };
    expect(resolveQueueOptions({ rate })).toMatchObject({ rate: { max: 100, per: 1000 } });
    expect(resolveQueueOptions({ rate }, { rate: { max: 5, per: '1h' } })).toMatchObject({
      rate: { max: 5, per: 3_600_000 },
    });
    expect(resolveQueueOptions({ rate }, { rate: 'unlimited' })).toMatchObject({ rate: null });
  });

  it('may include kept ids, which a later layer can replace as a whole or turn off', () => {
    const idsFor = { for: '1d' } as const;
    expect(resolveQueueOptions({ idsFor })).toMatchObject({ idsFor: { for: 86_400_000, max: 1_000_000 } });
    expect(resolveQueueOptions({ idsFor }, { idsFor: { for: '1h', max: 5 } })).toMatchObject({
      idsFor: { for: 3_600_000, max: 5 },
    });
    expect(resolveQueueOptions({ idsFor }, { idsFor: 'off' })).toMatchObject({ idsFor: null });
    expect(() => resolveQueueOptions({ idsFor, layout: redisson() })).toThrow(
      "idsFor must be 'off' with layout 'redisson'",
    );
    for (const wrong of [{ for: 10 }, { for: '1d', max: 0 }, { max: 5 }, 'on', true]) {
      expect(() => resolveQueueOptions({ idsFor: wrong as never })).toThrow(/idsFor/);
    }
  });

  it('are rejected if they set partitions for a layout that has none', () => {
    expect(() => resolveQueueOptions({ layout: redisson() }, { partitions: 2 })).toThrow(
      "partitions must be 1 with layout 'redisson'",
    );
  });

  it('come from the last layer that sets them, and undefined sets nothing', () => {
    const layers: QueueOptions[] = [
      { attempts: 2, lease: '1m' },
      { attempts: 3 },
      { attempts: undefined, lease: 5000 },
    ];
    expect(resolveQueueOptions(...layers)).toMatchObject({ attempts: 3, lease: 5000, concurrency: 16 });
  });
});
