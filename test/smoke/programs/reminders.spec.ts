// The test of it, for jest and vitest.
import { checkReminders } from './reminders.check.js';

interface FakeTimers {
  useFakeTimers(): unknown;
  useRealTimers(): unknown;
}

/** Those of jest or vitest; jest gives ES modules none. */
declare const it: (name: string, run: () => Promise<void>) => void;
declare const jest: FakeTimers;
declare const vi: FakeTimers;
const timers = typeof jest !== 'undefined' ? jest : typeof vi !== 'undefined' ? vi : undefined;

it('reminds on time, without Redis and without waiting', () => checkReminders());

if (timers) {
  it('reminds on time when timers are faked while it runs', async () => {
    await checkReminders(() => timers.useFakeTimers()).finally(() => timers.useRealTimers());
  });

  it('reminds on time when timers are faked from the start', async () => {
    timers.useFakeTimers();
    await checkReminders().finally(() => timers.useRealTimers());
  });
}
