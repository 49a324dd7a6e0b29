import { describe, expect, test } from '@jest/globals';
import { type FaultWindow, withoutEchoes } from './fault-window.js';

const window = (injected: boolean, processes: FaultWindow['processes'], from: number, to: number): FaultWindow => ({
  ...{ kind: 'any', detail: '', costsLeases: true },
  ...{ injected, processes, from, to },
});

describe('A stall', () => {
  test.each([
    ['of a process that the nemesis held still', [1], [1]],
    ['of a process while all were struck', 'all', [1]],
    ['of the server while it was struck', 'all', 'all'],
  ] as const)('%s is its echo, and left out', (_what, struck, stalled) => {
    const fault = window(true, struck, 100, 200);
    expect(withoutEchoes([fault, window(false, stalled, 150, 250)])).toEqual([fault]);
  });

  test.each([
    ['of another process', window(false, [2], 150, 250)],
    ['of all processes', window(false, 'all', 150, 250)],
    ['at another time', window(false, [1], 201, 250)],
  ])('%s is the machine’s own, and kept', (_what, stall) => {
    const fault = window(true, [1], 100, 200);
    expect(withoutEchoes([fault, stall])).toEqual([fault, stall]);
  });
});
