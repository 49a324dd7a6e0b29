import { beforeEach, describe, expect, it } from '@jest/globals';
import { WakeWait } from '../../lib/consumer/wake-wait.js';
import { ManualClock } from '../support/manual-clock.js';

const TIMEOUT = 25_000;

describe('WakeWait', () => {
  let clock: ManualClock;
  let wakeWait: WakeWait;
  /** How often the store's signal was waited for. */
  let waits: number;
  let passedOn: number;
  let end: (isWoken: boolean) => void;
  let fail: (error: Error) => void;

  beforeEach(() => {
    clock = new ManualClock();
    [waits, passedOn] = [0, 0];
    const wait = () => {
      waits++;
      return new Promise<boolean>((resolve, reject) => ([end, fail] = [resolve, reject]));
    };
    const close = () => Promise.resolve(end(false));
    wakeWait = new WakeWait({
      signal: { wait, close, leave: () => end(false) },
      clock,
      maxRest: TIMEOUT,
      passOn: () => passedOn++,
    });
  });

  /** Waits, and calls wake(): true if that ends the wait. */
  async function isHeeded(): Promise<boolean> {
    let ended = false;
    void wakeWait.wait(TIMEOUT).then(() => (ended = true));
    wakeWait.wake();
    await clock.advance(0);
    return ended;
  }

  it('ends a wait when the signal arrives, when the wait times out, and on close()', async () => {
    const woken = wakeWait.wait(TIMEOUT);
    end(true);
    expect(await woken).toBe(true);
    const silent = wakeWait.wait(TIMEOUT);
    end(false);
    expect(await silent).toBe(false);
    const closed = wakeWait.wait(TIMEOUT);
    await wakeWait.close();
    expect(await closed).toBe(false);
  });

  it('rejects a pending wait if the signal fails', async () => {
    const failed = wakeWait.wait(TIMEOUT);
    fail(new Error('gone'));
    await expect(failed).rejects.toThrow('gone');
  });

  it('ends a wait when the process wakes it, and keeps waiting for the signal', async () => {
    const early = wakeWait.wait(TIMEOUT);
    wakeWait.wake();
    expect(await early).toBe(true);
    const woken = wakeWait.wait(TIMEOUT);
    end(true);
    expect(await woken).toBe(true);
    expect(waits).toBe(1);
  });

  it('passes on a signal that arrives after the wait has ended', async () => {
    const early = wakeWait.wait(TIMEOUT);
    wakeWait.wake();
    await early;
    end(true);
    await clock.advance(0);
    expect(passedOn).toBe(1);
  });

  it('reacts to wake-ups from the process less and less often until messages are found', async () => {
    expect(await isHeeded()).toBe(true);
    expect(await isHeeded()).toBe(false);
    await clock.advance(1000);
    expect(await isHeeded()).toBe(true);
    await clock.advance(1000);
    expect(await isHeeded()).toBe(false);
    await clock.advance(1000);
    expect(await isHeeded()).toBe(true);
    wakeWait.found();
    expect(await isHeeded()).toBe(true);
  });
});
