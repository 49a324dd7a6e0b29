import { describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS, settingsFrom } from './soak-settings.js';

describe('The command line of the soak', () => {
  test('has a default for everything', () => {
    expect(settingsFrom([])).toEqual(DEFAULT_SETTINGS);
  });

  test('says how long, how much, and with which seed', () => {
    const args =
      '--minutes 0.5 --seed 7 --rate 300 --faults-every 0 --kinds a,b --handlers blocking,thenable --consumer early --layout native --keep-journals';
    expect(settingsFrom(args.split(' '))).toEqual({
      ...DEFAULT_SETTINGS,
      ...{ seconds: 30, seed: 7, rate: 300, faultsEvery: 0, kinds: ['a', 'b'], consumer: 'early', keepJournals: true },
      handlers: ['blocking', 'thenable'],
    });
  });

  test('may ask for the layout of Redisson', () => {
    expect(settingsFrom(['--layout', 'redisson']).layout).toBe('redisson');
  });

  test('may ask for handlers that behave', () => {
    expect(settingsFrom(['--handlers', 'good']).handlers).toEqual([]);
  });

  test.each([
    '--minutes x',
    '--handlers rude',
    '--layout java',
    '--layout redisson --consumer early',
    '--rate 0',
    '--seed 1.5',
    '--consumer other',
    '--faults-every -1',
    '--other 1',
  ])('is refused if it makes no sense: %s', (args) => {
    expect(() => settingsFrom(args.split(' '))).toThrow(/--|Unknown option|ambiguous/);
  });
});
