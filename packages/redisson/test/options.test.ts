import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { DelayQueueError } from '../../../lib/message/delay-queue-errors.js';
import { kryo5, redisson, type RedissonOptions } from '../src/index.js';

function messageOf(options: unknown): string {
  try {
    redisson(options as RedissonOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(DelayQueueError);
    expect(error).toHaveProperty('code', 'INVALID_OPTION');
    return (error as Error).message;
  }
  throw new Error('accepted');
}

describe('the options of the Redisson layout', () => {
  it('have defaults', () => {
    expect(redisson()).toMatchObject({ name: 'redisson', options: { codec: 'json', format: 'Bc0Lc0' } });
    expect(redisson({ codec: undefined, format: undefined, name: undefined })).toEqual(redisson());
  });

  it.each(['orders', 'Bestellungen / größer', '{orders}', 'shop:{eu}:orders', 'x'.repeat(512)])(
    'accept %j as a name in Redisson',
    (name) => {
      expect(redisson({ name })).toMatchObject({ options: { name } });
    },
  );

  it.each([
    [{ codec: 'smile' }, "redisson(): codec must be 'json', 'string', 'buffer', 'jackson', 'kryo5' or an object with"],
    [{ codec: kryo5 }, 'codec must be'],
    [{ format: 'dLc1' }, "format must be 'Bc0Lc0' or 'dLc0'"],
    [{ name: '' }, 'name must be 1–512 characters, with braces only as one pair around something'],
    [{ name: 7 }, 'name must be 1–512 characters'],
    [{ name: 'x'.repeat(513) }, 'name must be 1–512 characters'],
    [{ name: 'a{b' }, 'with braces only as one pair'],
    [{ name: '{}:a' }, 'with braces only as one pair'],
    [{ name: '{a}{b}' }, 'with braces only as one pair'],
    [{ nmae: 'a' }, 'nmae is not an option; did you mean name?'],
    [null, "the options must be an object, such as { codec: 'json' }, not null"],
  ])('are refused with an error that names the field and the fix: %j', (options, problem) => {
    expect(messageOf(options)).toContain(problem);
  });

  it('create equal layouts if they are equal, so that two definitions of one queue can agree', () => {
    expect(isDeepStrictEqual(redisson({ name: 'a' }), redisson({ name: 'a' }))).toBe(true);
    expect(isDeepStrictEqual(redisson({ name: 'a' }), redisson({ name: 'b' }))).toBe(false);
    expect(isDeepStrictEqual(redisson({ codec: 'string' }), redisson())).toBe(false);
  });
});
