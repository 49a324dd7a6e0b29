import { describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS, settingsFrom } from './soak-settings.js';

describe("the soak's command line", () => {
  test('has a default for every option', () => {
    expect(settingsFrom([])).toEqual(DEFAULT_SETTINGS);
  });

  test('sets the given options', () => {
    const args =
      '--minutes 0.5 --seed 7 --rate 300 --faults-every 0 --kinds a,b --handlers blocking,thenable --consumer early --layout native --keep-journals';
    expect(settingsFrom(args.split(' '))).toEqual({
      ...DEFAULT_SETTINGS,
      ...{ seconds: 30, seed: 7, rate: 300, faultsEvery: 0, kinds: ['a', 'b'], consumer: 'early', keepJournals: true },
      handlers: ['blocking', 'thenable'],
    });
  });

  test('selects the Redisson layout', () => {
    expect(settingsFrom(['--layout', 'redisson']).layout).toBe('redisson');
  });

  test.each([
    ['--cluster', { redis: 'cluster', partitions: 4 }],
    ['--cluster --partitions 16', { redis: 'cluster', partitions: 16 }],
    ['--cluster --layout redisson', { redis: 'cluster', partitions: 1, layout: 'redisson' }],
    ['--sentinel', { redis: 'sentinel', partitions: 1 }],
    ['--sentinel --acknowledge 2', { redis: 'sentinel', acknowledge: 2 }],
  ] as const)('selects the servers and the partitions that they need: %s', (args, expected) => {
    expect(settingsFrom(args.split(' '))).toEqual({ ...DEFAULT_SETTINGS, ...expected });
  });

  test.each([
    ['--groups 1', { groups: 1, rate: 200 }],
    ['--groups 3 --rate 900', { groups: 3, rate: 900 }],
    ['--groups 1 --cluster', { groups: 1, rate: 200, redis: 'cluster', partitions: 4 }],
    ['--groups 1 --consumer crowding', { groups: 1, rate: 200, consumer: 'crowding' }],
  ] as const)('puts messages into groups, and offers fewer unless a rate is given: %s', (args, expected) => {
    expect(settingsFrom(args.split(' '))).toEqual({ ...DEFAULT_SETTINGS, ...expected });
  });

  test('limits the queues with --limits', () => {
    expect(settingsFrom(['--limits'])).toEqual({ ...DEFAULT_SETTINGS, limits: true });
  });

  test('selects only well-behaved handlers with --handlers good', () => {
    expect(settingsFrom(['--handlers', 'good']).handlers).toEqual([]);
  });

  test.each([
    '--minutes x',
    '--handlers rude',
    '--layout java',
    '--layout redisson --consumer early',
    '--cluster --sentinel',
    '--cluster --consumer early',
    '--acknowledge 1',
    '--partitions 2 --layout redisson',
    '--partitions 2 --consumer early',
    '--groups 0',
    '--groups 1 --layout redisson',
    '--groups 1 --consumer sound',
    '--limits --layout redisson',
    '--limits --consumer sound',
    '--consumer crowding',
    '--rate 0',
    '--seed 1.5',
    '--consumer other',
    '--faults-every -1',
    '--other 1',
  ])('is rejected if an option or a combination of options is invalid: %s', (args) => {
    expect(() => settingsFrom(args.split(' '))).toThrow(/--|Unknown option|ambiguous/);
  });
});
