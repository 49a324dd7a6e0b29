import { describe, expect, test } from '@jest/globals';
import { OptionError, readOptions } from './command-options.js';
import { optionsOf } from './run-order.js';

const read = (text: string) => readOptions(text.split(' ').filter(Boolean))!;

describe("the simulation's command line", () => {
  test('draws a fresh seed for each job', () => {
    const { orders, jobs } = read('--jobs 3');
    expect(jobs).toBe(3);
    expect(new Set(orders.map(({ seed }) => seed)).size).toBe(3);
    expect(orders[0]).toMatchObject({ messages: 50_000, isQuiet: false, kinds: undefined, without: [] });
  });

  test('reads a range of seeds', () => {
    expect(read('--seeds 8-10').orders.map(({ seed }) => seed)).toEqual(['8', '9', '10']);
  });

  test('draws as many fresh seeds as requested', () => {
    expect(new Set(read('--seeds 12').orders.map(({ seed }) => seed)).size).toBe(12);
  });

  test.each([
    '--seed 7 --messages 1000000 --processes 5',
    '--seed abc --messages 20 --faults link-cut,killed --without 3,5',
    '--seed 7 --messages 20 --quiet --faults none',
    '--seed 7 --messages 20 --only 4',
  ])('prints the options that repeat a run: %s', (options) => {
    expect(optionsOf(read(options).orders[0]!)).toBe(options);
  });

  test.each([
    ['--seed 1 --seeds 2', '--seed and --seeds exclude each other'],
    ['--seeds 9-3', '--seeds 9-3: the first seed must not be greater'],
    ['--seeds many', '--seeds many: give a range such as 1-20, or how many fresh seeds'],
    ['--messages 0', '--messages 0: give a whole number from 1 to'],
    ['--messages 1e3x', '--messages 1e3x: give a whole number'],
    ['--processes 51', '--processes 51: give a whole number from 1 to 50'],
    ['--jobs 1.5', '--jobs 1.5: give a whole number'],
    ['--faults killed,eaten', '--faults eaten: give all, none, or some of calls, lone-call, link-cut'],
    ['--without a', '--without a: give numbers of faults separated by commas'],
    ['--only 1 --without 2', '--only and --without exclude each other'],
    ['--trace', '--trace tells of one run: give its --seed'],
    ['--about m1', '--about tells of one run: give its --seed'],
    ['--seed 1 --about everything', '--about everything: give the id of a message, such as m123'],
    ['--seed 1 --about m1 --trace', '--trace and --about exclude each other'],
    ['--sed 1', "Unknown option '--sed'. --help lists the options."],
    ['--seed', "Option '--seed <value>' argument missing. --help lists the options."],
    ['7', "Unexpected argument '7'"],
  ])('refuses %s', (options, message) => {
    expect(() => read(options)).toThrow(OptionError);
    expect(() => read(options)).toThrow(message);
  });

  test('prints its help on request', () => {
    expect(readOptions(['--help'])).toBeUndefined();
  });
});
