import { describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '../soak-settings.js';
import { GROUPS } from './groups.js';
import { planMessage } from './message-plan.js';

const NUMBERS = Array.from({ length: 20_000 }, (_, i) => i + 1);
const WITH_GROUPS = { ...DEFAULT_SETTINGS, groups: 1 };

describe('the groups of a soak', () => {
  test('change no other property of a message', () => {
    for (const n of NUMBERS.slice(0, 1000)) {
      expect({ ...planMessage(WITH_GROUPS, n), group: null }).toEqual(planMessage(DEFAULT_SETTINGS, n));
    }
  });

  test('have sizes that follow a power law, and leave some messages without a group', () => {
    const sizes = new Map<string | null, number>();
    for (const n of NUMBERS) {
      const { group } = planMessage(WITH_GROUPS, n);
      sizes.set(group, (sizes.get(group) ?? 0) + 1);
    }
    expect(sizes.size).toBe(GROUPS + 1);
    const shareOf = (group: string | null) => (sizes.get(group) ?? 0) / NUMBERS.length;
    expect(shareOf(null)).toBeCloseTo(0.1, 1);
    expect(shareOf('g0') / shareOf('g1')).toBeCloseTo(2, 0);
    expect(shareOf('g0') / shareOf('g9')).toBeCloseTo(10, -1);
  });

  test('contain messages that take seconds to handle only in the smaller half', () => {
    const slow = NUMBERS.map((n) => planMessage(WITH_GROUPS, n)).filter(
      ({ work, manner }) => work >= 1000 || manner === 'hangs',
    );
    const groups = slow.flatMap(({ group }) => group ?? []).map((group) => Number(group.slice(1)));
    expect(groups.length).toBeGreaterThan(10);
    expect(Math.min(...groups)).toBeGreaterThanOrEqual(GROUPS / 2);
  });
});
