import { beforeEach, describe, expect, test } from '@jest/globals';
import { AgainWatch } from '../../lib/message/again-watch.js';

describe('a call of again()', () => {
  let watch: AgainWatch;
  let held: Set<object>;
  beforeEach(() => {
    watch = new AgainWatch();
    held = new Set();
    watch.hold(held);
  });

  function claim(): object {
    const message = {};
    held.add(message);
    return message;
  }
  function end(message: object, wasHandled: boolean): string[] {
    held.delete(message);
    return watch.ended(message, wasHandled);
  }
  const handled = (message: object) => end(message, true);
  const failed = (message: object) => end(message, false);
  const callAgain = () => watch.called(callAgain);
  const HERE: unknown = expect.stringContaining('again-watch.test.ts:');

  test('was not returned once all messages of that time are handled, whatever comes later', () => {
    const [first, second] = [claim(), claim()];
    callAgain();
    claim();
    expect(handled(first)).toEqual([]);
    expect(handled(second)).toEqual([HERE]);
    expect(watch.watched).toBe(0);
  });

  test('is forgotten when one of them ends in another way', () => {
    const [first, second] = [claim(), claim()];
    callAgain();
    expect(failed(first)).toEqual([]);
    expect(watch.watched).toBe(0);
    expect(handled(second)).toEqual([]);
  });

  test('is told of once for each place', () => {
    const places = [1, 2].flatMap(() => {
      const message = claim();
      callAgain();
      callAgain();
      return handled(message);
    });
    expect(places).toHaveLength(2);
  });

  test('is not watched while no message is held, nor after the first hundred', () => {
    watch.letGo(held);
    callAgain();
    expect(watch.watched).toBe(0);
    watch.hold(held);
    for (let i = 0; i < 100; i++) {
      const message = claim();
      callAgain();
      expect(watch.watched).toBe(1);
      failed(message);
    }
    claim();
    callAgain();
    expect(watch.watched).toBe(0);
  });

  test('is not watched after a stop', () => {
    claim();
    callAgain();
    watch.stop();
    callAgain();
    expect(watch.watched).toBe(0);
  });
});
