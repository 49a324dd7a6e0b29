import { describe, expect, test } from '@jest/globals';
import { type FaultWindow, withoutEchoes } from './fault-window.js';

const window = (injected: boolean, processes: FaultWindow['processes'], from: number, to: number): FaultWindow => ({
  ...{ kind: 'any', detail: '', costsLeases: true },
  ...{ injected, processes, from, to },
});

describe('a stall', () => {
  test.each([
    ['of a process that the nemesis froze', [1], [1]],
    ['of a process during a fault of all processes', 'all', [1]],
    ['of the server during a fault of the server', 'all', 'all'],
  ] as const)('%s is dropped as an echo of the fault', (_what, struck, stalled) => {
    const fault = window(true, struck, 100, 200);
    expect(withoutEchoes([fault, window(false, stalled, 150, 250)])).toEqual([fault]);
  });

  test.each([
    ['of another process', window(false, [2], 150, 250)],
    ['of all processes', window(false, 'all', 150, 250)],
    ['at another time', window(false, [1], 201, 250)],
  ])('%s is kept as a stall of the machine', (_what, stall) => {
    const fault = window(true, [1], 100, 200);
    expect(withoutEchoes([fault, stall])).toEqual([fault, stall]);
  });
});
