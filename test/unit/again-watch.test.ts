import { beforeEach, describe, expect, test } from '@jest/globals';
import { AgainWatch } from '../../lib/message/again-watch.js';

describe('a call to again()', () => {
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
    return watch.ended(wasHandled);
  }
  const handled = (message: object) => end(message, true);
  const failed = (message: object) => end(message, false);
  const callAgain = () => watch.called(callAgain);
  const HERE: unknown = expect.stringContaining('again-watch.test.ts:');

  test('is reported as unreturned only once every held message has been handled', () => {
    const [first, second] = [claim(), claim()];
    callAgain();
    const third = claim();
    expect(handled(first)).toEqual([]);
    expect(handled(second)).toEqual([]);
    expect(watch.isWatching).toBe(true);
    expect(handled(third)).toEqual([HERE]);
    expect(watch.isWatching).toBe(false);
  });

  test('is not reported while another holder still has messages', () => {
    const others = new Set([{}]);
    watch.hold(others);
    const message = claim();
    callAgain();
    expect(handled(message)).toEqual([]);
    others.clear();
    expect(watch.ended(true)).toEqual([HERE]);
  });

  test('is forgotten when a held message ends with any outcome other than done', () => {
    const [first, second] = [claim(), claim()];
    callAgain();
    expect(failed(first)).toEqual([]);
    expect(watch.isWatching).toBe(false);
    expect(handled(second)).toEqual([]);
  });

  test('is reported once per call site', () => {
    const places = [1, 2].flatMap(() => {
      const message = claim();
      callAgain();
      callAgain();
      return handled(message);
    });
    expect(places).toHaveLength(2);
  });

  test('is watched only while a message is held, and only if it is among the first hundred', () => {
    watch.letGo(held);
    callAgain();
    expect(watch.isWatching).toBe(false);
    watch.hold(held);
    for (let i = 0; i < 100; i++) {
      const message = claim();
      callAgain();
      expect(watch.isWatching).toBe(true);
      failed(message);
    }
    claim();
    callAgain();
    expect(watch.isWatching).toBe(false);
  });

  test('is not watched after the watch has stopped', () => {
    claim();
    callAgain();
    watch.stop();
    callAgain();
    expect(watch.isWatching).toBe(false);
  });
});
