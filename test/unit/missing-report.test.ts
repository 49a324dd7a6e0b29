import { beforeEach, describe, expect, it } from '@jest/globals';
import { OnceAMinute } from '../../lib/timing/pauses.js';
import { MissingReport } from '../../lib/partitions/patient-reading.js';
import { ManualClock } from '../support/manual-clock.js';

describe('the report on partitions that do not respond', () => {
  let clock: ManualClock;
  let reported: string[];
  let report: MissingReport;
  const whole = (...missing: number[]) => report.note({ missing, hasAskedAll: true });
  const part = (...missing: number[]) => report.note({ missing, hasAskedAll: false });

  beforeEach(() => {
    clock = new ManualClock();
    reported = [];
    report = new MissingReport(new OnceAMinute(clock), (missing) => reported.push(missing.join(' ')));
  });

  it('names them once, then once a minute while they stay the same', async () => {
    whole(0, 4);
    whole(0, 4);
    await clock.advance(59_999);
    whole(0, 4);
    expect(reported).toEqual(['0 4']);
    await clock.advance(1);
    whole(0, 4);
    expect(reported).toEqual(['0 4', '0 4']);
  });

  it('is made at once when the set of these partitions changes, or when one stops responding again', () => {
    whole(0, 4);
    whole(4);
    whole();
    whole(4);
    expect(reported).toEqual(['0 4', '4', '4']);
  });

  it('is not repeated after a read of only some partitions, unless that adds another one', () => {
    whole(0, 4);
    part();
    part(4);
    whole(0, 4);
    expect(reported).toEqual(['0 4']);
    part(7);
    expect(reported).toEqual(['0 4', '0 4 7']);
  });
});
