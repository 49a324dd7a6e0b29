import type { Duration } from '../message/duration.js';
import type { MessageHeaders } from '../message/message.js';

/** When a message repeats, and what its occurrences have in common. */
export interface RepeatOptions {
  /**
   * When an occurrence falls due, as the module's `calendar` reads it: five fields (minute, hour, day of month, month, day of week), such
   * as `'0 9 * * 1-5'`, or six with seconds first.
   */
  readonly cron: string;
  /** An IANA time zone, such as `'Europe/Berlin'`. Default: `'UTC'`. */
  readonly timeZone?: string | undefined;
  /**
   * Decides about occurrences for which no process was there in time: `'once'` handles the first of them late, in place of all; `'skip'`
   * handles none that is more than a minute late (event `expired`). Default: `'once'`.
   */
  readonly missed?: 'once' | 'skip' | undefined;
  /** Headers of each occurrence, with text values. Default: none. */
  readonly headers?: MessageHeaders | undefined;
  /** How late an occurrence may be, as in the options of an offer. Default: `expiresAfter` of the queue. */
  readonly expiresAfter?: Duration | 'never' | undefined;
  /** Decides about an occurrence that has expired. Only with `expiresAfter`. Default: `onExpired` of the queue. */
  readonly onExpired?: 'drop' | 'dead' | undefined;
}
