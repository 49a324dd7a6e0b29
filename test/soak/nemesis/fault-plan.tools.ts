import { describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '../soak-settings.js';
import { isCalm, planFaults } from './fault-plan.js';
import { FAULTS_OF_ONE } from './faults.js';

const KINDS = FAULTS_OF_ONE.map(({ kind }) => kind);
const TEN_MINUTES = { ...DEFAULT_SETTINGS, seconds: 600, faultsEvery: 2 };

describe('the fault plan', () => {
  test('is the same for the same seed and different for another seed', () => {
    expect(planFaults(TEN_MINUTES, KINDS)).toEqual(planFaults(TEN_MINUTES, KINDS));
    expect(planFaults({ ...TEN_MINUTES, seed: 2 }, KINDS)).not.toEqual(planFaults(TEN_MINUTES, KINDS));
  });

  test('has the requested number of faults, evenly divided among the kinds', () => {
    const plan = planFaults(TEN_MINUTES, KINDS);
    expect(plan).toHaveLength(300);
    for (const kind of KINDS) {
      const times = plan.filter((fault) => fault.kind === kind).length;
      expect(times).toBeGreaterThanOrEqual(Math.floor(300 / KINDS.length));
      expect(times).toBeLessThanOrEqual(Math.ceil(300 / KINDS.length));
    }
  });

  test('numbers the faults of each kind consecutively', () => {
    const turns = planFaults(TEN_MINUTES, KINDS).flatMap(({ kind, turn }) => (kind === KINDS[0] ? [turn] : []));
    expect(turns).toEqual(turns.map((_turn, i) => i));
  });

  test('leaves a calm period in every minute of a long soak, and none in a short one', () => {
    const calm = { seconds: 600, recovery: 5000 };
    const plan = planFaults(TEN_MINUTES, KINDS);
    expect(plan.filter(({ at }) => isCalm(at, calm))).toEqual([]);
    for (let minute = 0; minute < 10; minute++) {
      expect(plan.some(({ at }) => Math.floor(at / 60_000) === minute)).toBe(true);
      expect(isCalm(minute * 60_000 + 50_000, calm)).toBe(true);
    }
    expect(isCalm(50_000, { seconds: 60, recovery: 5000 })).toBe(false);
  });

  test('ends before the soak does', () => {
    for (const seconds of [5, 60, 150, 600]) {
      const plan = planFaults({ ...DEFAULT_SETTINGS, seconds, faultsEvery: 0.5 }, KINDS);
      expect(plan).toHaveLength(seconds * 2);
      expect(Math.max(...plan.map(({ at }) => at))).toBeLessThan(seconds * 1000);
    }
  });

  test('is empty if no faults are requested', () => {
    expect(planFaults({ ...TEN_MINUTES, faultsEvery: 0 }, KINDS)).toEqual([]);
  });
});
