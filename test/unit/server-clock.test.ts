import { describe, expect, it } from '@jest/globals';
import { ServerClock } from '../../lib/redis/commands/server-clock.js';

const MINUTE = 60_000;

describe('ServerClock', () => {
  it('knows nothing before the server has answered', () => {
    const clock = new ServerClock();
    expect(clock.at(1000)).toBe(0);
    expect(clock.isStale(1000)).toBe(true);
  });

  it('never lags behind the server, which may have read its clock as soon as it was asked', () => {
    const clock = new ServerClock();
    clock.learn(5_000_000.25, 1000);
    expect(clock.at(1000)).toBe(5_000_001);
    expect(clock.at(3500)).toBe(5_002_501);
  });

  it('is stale after a minute', () => {
    const clock = new ServerClock();
    clock.learn(5_000_000, 1000);
    expect(clock.isStale(1000 + MINUTE)).toBe(false);
    expect(clock.isStale(1001 + MINUTE)).toBe(true);
  });

  it('follows the last answer, even if the server’s clock was set back', () => {
    const clock = new ServerClock();
    clock.learn(5_000_000, 1000);
    clock.learn(4_000_000, 2000);
    expect(clock.at(2000)).toBe(4_000_000);
  });
});
