import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { describeFailure, isInstance, isStrayPromise, showFailure } from '../../lib/message/failure.js';
import { ODD_RESULTS, ODD_VALUES } from '../support/odd-values.js';

const isPromise = (what: string) => what.includes(' promise ');
const all = Object.entries({ ...ODD_VALUES, ...ODD_RESULTS });
const odd = all.filter(([what]) => !isPromise(what));

describe('a failure', () => {
  it('has a description of bounded length', () => {
    const huge = new Error('x'.repeat(100_000));
    expect(JSON.stringify(describeFailure(huge)).length).toBeLessThan(5000);
  });

  it('that is an error is described by its name, its message and the first lines of its stack', () => {
    const failure = describeFailure(new TypeError('no such table'));
    expect(failure).toMatchObject({ name: 'TypeError', message: 'no such table' });
    expect(failure.stack?.split('\n')).toHaveLength(6);
    expect(showFailure(new TypeError('no such table'))).toBe('TypeError: no such table');
  });

  it('that is an error of another realm is described as an error', () => {
    expect(showFailure(runInNewContext('new RangeError("far away")'))).toBe('RangeError: far away');
  });

  it.each([undefined, null, 'text', 7, Symbol('s'), () => 1])(
    'that is not an error is described as text: %p',
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

  it.each(odd)('is always described as text: %s', (_what, make) => {
    const { name, message, stack = '' } = describeFailure(make());
    expect([typeof name, typeof message, typeof stack]).toEqual(['string', 'string', 'string']);
    expect(isInstance(make(), RangeError)).toBe(false);
  });
});

describe('a stray promise', () => {
  it.each(all)(
    'is told apart from other values, and its rejection does not end the process: %s',
    async (what, make) => {
      expect(isStrayPromise(make())).toBe(isPromise(what));
      // An unhandled rejection would fail the test in the next turn.
      await new Promise((resolve) => setImmediate(resolve));
    },
  );
});
