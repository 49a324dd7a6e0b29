import { beforeEach, describe, expect, it } from '@jest/globals';
import { NudgedDoorbell } from '../../lib/consumer/nudged-doorbell.js';
import { ManualClock } from '../support/manual-clock.js';

const TIMEOUT = 25_000;

describe('a doorbell that can be nudged', () => {
  let clock: ManualClock;
  let doorbell: NudgedDoorbell;
  /** How often the doorbell itself was waited at. */
  let waits: number;
  let passedOn: number;
  let end: (rung: boolean) => void;
  let fail: (error: Error) => void;

  beforeEach(() => {
    clock = new ManualClock();
    [waits, passedOn] = [0, 0];
    const wait = () => {
      waits++;
      return new Promise<boolean>((resolve, reject) => ([end, fail] = [resolve, reject]));
    };
    const close = () => Promise.resolve(end(false));
    doorbell = new NudgedDoorbell({
      doorbell: { wait, close, leave: () => end(false) },
      clock,
      longestRest: TIMEOUT,
      passOn: () => passedOn++,
    });
  });

  /** Waits, and nudges: whether that ends the wait. */
  async function isHeeded(): Promise<boolean> {
    let ended = false;
    void doorbell.wait(TIMEOUT).then(() => (ended = true));
    doorbell.nudge();
    await clock.advance(0);
    return ended;
  }

  it('ends a wait when it rings, when its time is up, and when it is closed', async () => {
    const rung = doorbell.wait(TIMEOUT);
    end(true);
    expect(await rung).toBe(true);
    const silent = doorbell.wait(TIMEOUT);
    end(false);
    expect(await silent).toBe(false);
    const closed = doorbell.wait(TIMEOUT);
    await doorbell.close();
    expect(await closed).toBe(false);
  });

  it('ends a wait with its failure', async () => {
    const failed = doorbell.wait(TIMEOUT);
    fail(new Error('gone'));
    await expect(failed).rejects.toThrow('gone');
  });

  it('ends a wait when it is nudged, and goes on waiting for the ring', async () => {
    const nudged = doorbell.wait(TIMEOUT);
    doorbell.nudge();
    expect(await nudged).toBe(true);
    const rung = doorbell.wait(TIMEOUT);
    end(true);
    expect(await rung).toBe(true);
    expect(waits).toBe(1);
  });

  it('passes a ring on that nobody waits for', async () => {
    const nudged = doorbell.wait(TIMEOUT);
    doorbell.nudge();
    await nudged;
    end(true);
    await clock.advance(0);
    expect(passedOn).toBe(1);
  });

  it('heeds nudges ever more rarely, until messages are found', async () => {
    expect(await isHeeded()).toBe(true);
    expect(await isHeeded()).toBe(false);
    await clock.advance(1000);
    expect(await isHeeded()).toBe(true);
    await clock.advance(1000);
    expect(await isHeeded()).toBe(false);
    await clock.advance(1000);
    expect(await isHeeded()).toBe(true);
    doorbell.found();
    expect(await isHeeded()).toBe(true);
  });
});
