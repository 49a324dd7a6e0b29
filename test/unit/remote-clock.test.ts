import { describe, expect, it } from '@jest/globals';
import { RemoteClock } from '../../lib/timing/clock.js';

const MINUTE = 60_000;

/** A round trip of `took` ms. */
const at = (sentAt: number, took = 1) => ({ sentAt, receivedAt: sentAt + took });

describe('RemoteClock', () => {
  it('knows nothing before the first response', () => {
    const clock = new RemoteClock(250);
    expect(clock.at(1000)).toBe(0);
    expect(clock.isStale(1000)).toBe(true);
  });

  it('never lags behind the remote clock, even if the clock was read as soon as it was queried', () => {
    const clock = new RemoteClock(250);
    clock.learn(5_000_000.25, at(1000));
    expect(clock.at(1000)).toBe(5_000_000.25);
    expect(clock.at(3500)).toBe(5_002_500.25);
  });

  it('tells when a time comes, and allows for ten milliseconds of error', () => {
    const clock = new RemoteClock(250);
    clock.learn(5_000_000, at(1000));
    expect(clock.timeOf(5_000_500, 1200)).toBe(1510);
  });

  it('does not tell when a time comes before the first response, or once it is stale', () => {
    const clock = new RemoteClock(250);
    expect(clock.timeOf(5_000_500, 1200)).toBe(Infinity);
    clock.learn(5_000_000, at(1000));
    expect(clock.timeOf(5_000_500, 1001 + MINUTE)).toBe(Infinity);
  });

  it('is stale after a minute', () => {
    const clock = new RemoteClock(250);
    clock.learn(5_000_000, at(1000));
    expect(clock.isStale(1000 + MINUTE)).toBe(false);
    expect(clock.isStale(1001 + MINUTE)).toBe(true);
  });

  it('follows the last response, even if the remote clock was set back', () => {
    const clock = new RemoteClock(250);
    clock.learn(5_000_000, at(1000));
    clock.learn(4_000_000, at(2000));
    expect(clock.at(2000)).toBe(4_000_000);
  });

  it('keeps a close estimate when a slow response agrees with it', () => {
    const clock = new RemoteClock(250);
    clock.learn(5_000_000, at(1000));
    clock.learn(5_003_000, at(2000, 2500));
    expect(clock.at(4000)).toBe(5_003_000);
  });

  it('stays valid when a slow response agrees with a close estimate', () => {
    const clock = new RemoteClock(250);
    clock.learn(5_000_000, at(1000));
    clock.learn(5_003_000, at(2000, 2500));
    expect(clock.isStale(4500)).toBe(false);
    expect(clock.isStale(1001 + MINUTE)).toBe(true);
  });

  it('follows a slow response that disagrees with the estimate', () => {
    const clock = new RemoteClock(250);
    clock.learn(5_000_000, at(1000));
    clock.learn(5_010_000, at(2000, 2500));
    expect(clock.at(2000)).toBe(5_010_000);
    clock.learn(4_000_000, at(5000, 2500));
    expect(clock.at(5000)).toBe(4_000_000);
  });

  it('is stale at once after a slow response', () => {
    const clock = new RemoteClock(250);
    clock.learn(5_000_000, at(1000, 251));
    expect(clock.isStale(1252)).toBe(true);
  });
});
