import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { BadRequestException } from '@nestjs/common';
import { RejectMessage } from '../../lib/index.js';
import { describeFailure, isInstance, isStrayPromise, showFailure, traceOf } from '../../lib/message/failure.js';
import { ODD_RESULTS, ODD_VALUES } from '../support/odd-values.js';

const isPromise = (what: string) => what.includes(' promise ');
const all = Object.entries({ ...ODD_VALUES, ...ODD_RESULTS });
const odd = all.filter(([what]) => !isPromise(what));

describe('the description of a failure', () => {
  it('has a bounded length', () => {
    const huge = new Error('x'.repeat(100_000));
    expect(JSON.stringify(describeFailure(huge)).length).toBeLessThan(5000);
  });

  it('contains the name, the message and the first stack lines of an error', () => {
    const failure = describeFailure(new TypeError('no such table'));
    expect(failure).toMatchObject({ name: 'TypeError', message: 'no such table' });
    expect(failure.stack?.split('\n')).toHaveLength(6);
    expect(showFailure(new TypeError('no such table'))).toBe('TypeError: no such table');
  });

  it('treats an error from another realm as an error', () => {
    expect(showFailure(runInNewContext('new RangeError("far away")'))).toBe('RangeError: far away');
  });

  it.each([undefined, null, 'text', 7, Symbol('s'), () => 1])(
    'has the thrown value as a string if it is not an error: %p',
    (thrown) => {
      expect(describeFailure(thrown)).toEqual({ name: 'NonError', message: String(thrown) });
    },
  );

  it('keeps the readable parts of an error when another part cannot be read', () => {
    expect(describeFailure(ODD_VALUES['an error whose name throws']!())).toMatchObject({ message: 'named' });
    expect(describeFailure(ODD_VALUES['an error whose message throws']!())).toMatchObject({ name: 'TypeError' });
    expect(describeFailure(ODD_VALUES['an error whose stack throws']!())).toEqual({
      name: 'TypeError',
      message: 'stacked',
    });
  });

  it.each(odd)('consists of strings, whatever was thrown: %s', (_what, make) => {
    const { name, message, stack = '' } = describeFailure(make());
    expect([typeof name, typeof message, typeof stack]).toEqual(['string', 'string', 'string']);
    expect(isInstance(make(), RangeError)).toBe(false);
  });
});

/** The text of a failure's description. */
const shown = (thrown: unknown) => {
  const { name, message } = describeFailure(thrown);
  return `${name}: ${message}`;
};

describe('the logged trace of a failure', () => {
  it.each([
    { frames: 50, shown: 50 },
    { frames: 51, shown: 51 },
    { frames: 140, shown: 51 },
  ])('has the first 30 and the last 20 of $frames frames', ({ frames, shown }) => {
    const error = new Error('too deep');
    const lines = Array.from({ length: frames }, (_, i) => `    at frame${i} (shop.ts:1:1)`);
    error.stack = ['Error: too deep', ...lines].join('\n');

    const [first, ...rest] = traceOf(error).split('\n');

    expect(first).toBe('Error: too deep');
    expect(rest).toHaveLength(shown);
    expect(rest.slice(0, 30)).toEqual(lines.slice(0, 30));
    expect(rest.slice(-20)).toEqual(lines.slice(-20));
    if (frames > 50) expect(rest[30]).toBe(`    ... ${frames - 50} more`);
  });
});

describe('the reason for a failure', () => {
  class ValidationError {
    children: ValidationError[] = [];
    constructor(
      readonly property: string,
      readonly constraints?: Record<string, string>,
    ) {}
    readonly target = { card: 'secret 4711' };
    readonly value = 'secret 4711';
  }

  it.each<[string, unknown, string]>([
    [
      "a plain object such as Nest's ClientProxy rejects with",
      { status: 'error', message: 'Internal server error' },
      'NonError: status: error, message: Internal server error',
    ],
    [
      'an object within an object',
      { statusCode: 404, error: { code: 'GONE', message: 'no such order', card: 'secret' } },
      'NonError: statusCode: 404, error: code: GONE, message: no such order',
    ],
    [
      'an object without known fields',
      { card: 'secret', password: 'secret' },
      'NonError: an object with the fields card, password',
    ],
    ['an empty object', {}, 'NonError: an object with no fields'],
    ['a list', [new Error('one'), { message: 'two' }], 'NonError: Error: one, message: two'],
    [
      'a ValidationPipe exception',
      new BadRequestException(['email must be an email', 'age must be a number']),
      'BadRequestException: Bad Request Exception: email must be an email, age must be a number',
    ],
    ['an exception with a message', new BadRequestException('no such order'), 'BadRequestException: no such order'],
    [
      'an exception with an object',
      new BadRequestException({ message: 'no such order', card: 'secret' }),
      'BadRequestException: no such order',
    ],
    [
      'a ValidationPipe exception that contains the errors themselves',
      new BadRequestException([
        new ValidationError('email', { isEmail: 'email must be an email' }),
        Object.assign(new ValidationError('address'), {
          children: [new ValidationError('city', { isString: 'city must be a string' })],
        }),
      ]),
      'BadRequestException: Bad Request Exception: email must be an email, address.city must be a string',
    ],
    [
      'the cause of a failed fetch',
      new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') }),
      'TypeError: fetch failed; caused by Error: connect ECONNREFUSED 127.0.0.1:1',
    ],
    [
      'a chain of causes',
      new Error('a', { cause: new RangeError('b', { cause: 'c' }) }),
      'Error: a; caused by RangeError: b; caused by c',
    ],
    [
      'a cause that the message already contains',
      new Error('failed: b', { cause: new Error('b') }),
      'Error: failed: b',
    ],
    [
      'the errors of an AggregateError',
      new AggregateError([new Error('a'), new TypeError('b'), 'c'], 'All failed'),
      'AggregateError: All failed: Error: a, TypeError: b, c',
    ],
    [
      'an AggregateError of a connection, which has no message',
      Object.assign(new AggregateError([new Error('connect ::1')], ''), { code: 'ECONNREFUSED' }),
      'AggregateError: ECONNREFUSED: Error: connect ::1',
    ],
    [
      'a rejection with a cause',
      new RejectMessage('no', { cause: new Error('gone') }),
      'RejectMessage: no; caused by Error: gone',
    ],
    [
      'a rejection made from an object',
      new RejectMessage({ message: 'gone' } as never),
      'RejectMessage: NonError: message: gone',
    ],
  ])('is taken from %s', (_what, thrown, expected) => {
    expect(shown(thrown)).toBe(expected);
    expect(JSON.stringify(describeFailure(thrown))).not.toContain('secret');
  });

  it.each([
    'redis://app:hunter2@host:6379/0 is down',
    'GET https://hunter2@host/path?mail=a@b failed',
    'redis://app:a@b/c#hunter2@host',
    'redis://:hunter2@host',
    'postgres://host/db?user=app&password=hunter2&ssl=true',
    `${'x'.repeat(1990)}redis://app:hunter2@host`,
  ])('does not contain credentials from URLs: %s', (message) => {
    const error = new Error(message, { cause: new Error(`of ${message}`) });
    const reported = [showFailure(error), traceOf(error), JSON.stringify(describeFailure(error))];
    expect(reported.join('\n')).not.toContain('hunter2');
  });

  it('keeps addresses without credentials', () => {
    const message = 'http://127.0.0.1:8080/users?mail=a@b.example and https://host/@scope/name, mail a@b.example';
    expect(shown(new Error(message))).toBe(`Error: ${message}`);
  });

  it('has a bounded length, however much an error carries', () => {
    const wide = new AggregateError(Array.from({ length: 1e3 }, (_each, i) => new Error(`${i} ${'x'.repeat(1e4)}`)));
    const deep = Array.from({ length: 1e4 }).reduce<Error>((cause) => new Error('deep', { cause }), new Error('end'));
    const tree = (depth: number): Error =>
      depth === 0
        ? new Error('leaf')
        : new AggregateError(
            Array.from({ length: 9 }, () => tree(depth - 1)),
            `level ${depth}`,
          );
    for (const error of [wide, deep, tree(5), { message: { message: { message: { message: { message: {} } } } } }]) {
      expect(shown(error).length).toBeLessThan(2100);
    }
    expect(shown(wide)).toContain('995 more');
  });

  it('is shown only once if it refers to itself', () => {
    const error = new Error('round', { cause: undefined });
    error.cause = new AggregateError([error], 'and round', { cause: error });
    expect(shown(error)).toBe('Error: round; caused by AggregateError: and round');
    const object: Record<string, unknown> = { message: 'self' };
    object.error = object;
    expect(shown(object)).toBe('NonError: message: self');
  });

  it('consists of the parts that can be read', () => {
    const fail = () => {
      throw new Error('no');
    };
    const error = new Error('readable');
    for (const field of ['cause', 'errors', 'response', 'error', 'code'])
      Object.defineProperty(error, field, { get: fail });
    expect(shown(error)).toBe('Error: readable');
    const object = Object.defineProperty({ message: 'readable' }, 'error', { get: fail, enumerable: true });
    expect(shown(object)).toBe('NonError: message: readable');
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    expect(shown(new AggregateError([proxy, new Error('b')], 'a'))).toContain('Error: b');
  });
});

describe('isStrayPromise()', () => {
  it.each(all)('recognizes only promises, whose rejections then do not end the process: %s', async (what, make) => {
    expect(isStrayPromise(make())).toBe(isPromise(what));
    // An unhandled rejection would fail the test in the next turn.
    await new Promise((resolve) => setImmediate(resolve));
  });
});
