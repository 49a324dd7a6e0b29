import { describe, expect, test } from '@jest/globals';
import type { HookLimit } from '../../lib/message/delay-queue-observer.js';
import { surround } from '../../lib/observers/observers.js';
import { ManualClock } from '../support/manual-clock.js';

type Next = (argument?: string) => string | Promise<string>;

describe('work inside a hook', () => {
  /** Does some work inside a hook, and records its result and the complaints. */
  async function runIn(hook: (next: Next) => unknown, work: Next = (argument) => `done ${argument ?? 'without'}`) {
    const complaints: unknown[] = [];
    let calls = 0;
    const counted: Next = (argument) => {
      calls++;
      return work(argument);
    };
    const owner = { name: 'Hook', complain: (error: unknown) => void complaints.push(error), clock: new ManualClock() };
    const result = surround(hook, counted, owner);
    const isSync = !(result instanceof Promise);
    const ended = await Promise.resolve(result).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    return { ...ended, isSync, complaints, calls };
  }

  const no = new Error('no');
  const fail = (error: unknown): never => {
    throw error;
  };
  const later = () => new Promise((resolve) => setImmediate(resolve));

  test('runs synchronously if the hook calls it synchronously', async () => {
    const result = await runIn((next) => next('with it'));
    expect(result).toEqual({ value: 'done with it', isSync: true, complaints: [], calls: 1 });
  });

  test.each<[string, (next: Next) => unknown, unknown[]]>([
    ['never calls it', () => undefined, []],
    ['fails before it calls it', () => fail(no), [no]],
    ['fails after it has called it', (next) => [next(), fail(no)], [no]],
    ['calls it twice', (next) => [next(), next()], []],
    ['returns something else', (next) => [next(), 42], []],
    ['rejects before it calls it', async () => later().then(() => fail(no)), [no]],
    ['rejects after it has called it', async (next) => [next(), await later(), fail(no)], [no]],
    ['takes its time after it has called it', async (next) => [next(), await later()], []],
    ['takes its time and never calls it', async () => later(), []],
    ['returns a thenable that throws', () => ({ then: () => fail(no) }), [no]],
  ])('runs once and returns its own result if the hook %s', async (_what, hook, complaints) => {
    expect(await runIn(hook)).toMatchObject({ value: 'done without', complaints, calls: 1 });
  });

  test('waits for a hook that takes its time before it calls next()', async () => {
    const result = await runIn(async (next) => {
      await later();
      return next('late');
    });
    expect(result).toEqual({ value: 'done late', isSync: false, complaints: [], calls: 1 });
  });

  test('returns its result even if the hook never ends after next()', async () => {
    const result = await runIn(async (next) => {
      await later();
      void next();
      await new Promise(() => undefined);
    });
    expect(result).toMatchObject({ value: 'done without', calls: 1 });
  });

  test('fails with its own error, which the hook can neither hide nor change', async () => {
    const work = () => Promise.reject(no);
    expect(await runIn(async (next) => next(), work)).toMatchObject({ error: no, complaints: [] });
    expect(await runIn(async (next) => Promise.resolve(next()).catch(() => 'fine'), work)).toMatchObject({ error: no });
    const other = async (next: Next) => Promise.resolve(next()).catch(() => fail(new Error('other')));
    expect(await runIn(other, work)).toMatchObject({ error: no, complaints: [] });
  });

  test("runs without the hook's argument if it rejects that argument", async () => {
    const picky: Next = (argument) => (argument === 'bad' ? fail(no) : `done ${argument ?? 'without'}`);
    expect(await runIn((next) => next('bad'), picky)).toMatchObject({ value: 'done without', complaints: [no] });
  });
});

describe('a hook with a time limit', () => {
  /** Does some work inside a hook that may keep it waiting for 500 ms. */
  function surroundIn(hook: (next: Next) => unknown, { timeout = 500 }: { timeout?: number | null } = {}) {
    const clock = new ManualClock();
    const complaints: unknown[] = [];
    const works: string[] = [];
    const ended: string[] = [];
    const limit: HookLimit<string> = { timeout, onTimeout: (name, passed) => `${name} took ${passed} ms` };
    const owner = { name: 'Hook', complain: (error: unknown) => void complaints.push(error), clock };
    const work = (argument = 'nothing') => {
      works.push(argument);
      return `done ${argument}`;
    };
    void Promise.resolve(surround(hook, work, owner, limit)).then((result) => ended.push(result));
    return { clock, complaints, works, ended };
  }

  const never = new Promise(() => undefined);

  test('ends without the work if it hangs before next(), even if it calls next() later', async () => {
    let seen: unknown;
    let callNext: () => void = () => undefined;
    const { clock, works, ended, complaints } = surroundIn(async (next) => {
      await new Promise<void>((resolve) => (callNext = resolve));
      seen = await next('late');
      await never;
    });
    await clock.advance(499);
    expect(ended).toEqual([]);
    await clock.advance(1);
    expect(ended).toEqual(['Hook took 500 ms']);
    callNext();
    await clock.advance(0);
    expect({ seen, works, complaints }).toEqual({ seen: 'Hook took 500 ms', works: [], complaints: [] });
  });

  test.each<[string, (next: Next) => unknown]>([
    ['calls next() and hangs', async (next) => [next('it'), await never]],
    ['waits, calls next() and hangs', async (next) => [await Promise.resolve(), next('it'), await never]],
  ])('ends together with the work if it %s', async (_what, hook) => {
    const { clock, ended, works } = surroundIn(hook);
    await clock.advance(0);
    expect({ ended, works }).toEqual({ ended: ['done it'], works: ['it'] });
    expect(clock.pendingTimers).toBe(0);
  });

  test('ends together with the work if it calls next() in time, and leaves no timer behind', async () => {
    const { clock, ended } = surroundIn(async (next) => {
      await Promise.resolve();
      await clock.sleep(400);
      return next('it');
    });
    await clock.advance(400);
    expect({ ended, timers: clock.pendingTimers }).toEqual({ ended: ['done it'], timers: 0 });
  });

  test('may hang if the limit is turned off', async () => {
    const { clock, ended } = surroundIn(() => never, { timeout: null });
    await clock.advance(3_600_000);
    expect({ ended, timers: clock.pendingTimers }).toEqual({ ended: [], timers: 0 });
  });
});
