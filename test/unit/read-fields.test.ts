import { describe, expect, it } from '@jest/globals';
import { readFields } from '../../lib/message/read-fields.js';

interface Fields {
  readonly id?: string | undefined;
  readonly type?: string | undefined;
}

const read = (given: object) => readFields<Fields>(given, 'options', ['id', 'type']);

describe('readFields', () => {
  it('reads each field once, and leaves out those without a value', () => {
    const reads: string[] = [];
    const fields = {
      get id() {
        reads.push('id');
        return 'a';
      },
      type: undefined,
    };
    expect(read(fields)).toStrictEqual({ id: 'a' });
    expect(reads).toEqual(['id']);
  });

  it('reads fields that a class or a prototype has', () => {
    class Options {
      readonly #id = 'a';
      readonly type = 'b';
      get id() {
        return this.#id;
      }
    }
    const defaults = Object.assign(Object.create(null) as object, { id: 'a' });
    expect(read(new Options())).toStrictEqual({ id: 'a', type: 'b' });
    expect(read(Object.assign(Object.create(defaults) as object, { type: 'b' }))).toStrictEqual({ id: 'a', type: 'b' });
  });

  it.each([
    ['a literal', { id: 'a', idd: 'b' }],
    ['an instance', Object.assign(new (class Options {})(), { id: 'a', idd: 'b' })],
  ])('names a field of %s that is not known', (_, given) => {
    expect(() => read(given)).toThrow("options: must be an object with id, type, not 'idd'");
  });

  it('takes nothing that Object.prototype has got for an unknown field', () => {
    const prototype = Object.prototype as { unknown?: string };
    prototype.unknown = 'polluted';
    try {
      expect(read({ id: 'a' })).toStrictEqual({ id: 'a' });
    } finally {
      delete prototype.unknown;
    }
  });

  it.each([[[]], [new Map()], [Promise.resolve()]])('refuses %p, which has none of the fields', (given) => {
    expect(() => read(given)).toThrow('options: must be an object with id, type, not an instance of a class');
  });
});
