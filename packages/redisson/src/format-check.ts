import { DelayQueueError } from 'nestjs-delay-queue';
import type { EntryFormat } from './entry-format.js';

/** The formats of a queue's entries. */
export interface FormatsSeen {
  readonly hasOld: boolean;
  /** True if a client of Redisson has written entries in the new format. */
  readonly hasNewOfRedisson: boolean;
}

/**
 * Checks that new entries get the same format as those that exist. A Redisson that meets an entry of the other format moves those before it
 * again and again. New entries of this package do not count, so `'dLc0'` is the remedy if they were written by mistake.
 * @throws DelayQueueError `INVALID_OPTION`
 */
export function checkFormat(queue: string, format: EntryFormat, { hasOld, hasNewOfRedisson }: FormatsSeen): void {
  if (format === 'Bc0Lc0' && hasOld) throw unreadableForOthers(queue, { own: format, others: 'dLc0' });
  if (format === 'dLc0' && hasNewOfRedisson && !hasOld) {
    throw unreadableForOthers(queue, { own: format, others: 'Bc0Lc0' });
  }
}

const WRITERS: Readonly<Record<EntryFormat, string>> = {
  dLc0: 'Redisson 3.21.0 or older',
  Bc0Lc0: 'Redisson 3.21.1 or newer',
};

function unreadableForOthers(queue: string, { own, others }: Record<'own' | 'others', EntryFormat>): DelayQueueError {
  return new DelayQueueError(
    'INVALID_OPTION',
    `queue '${queue}': format: '${own}' cannot be read by those who read its delayed messages, which have the format of ` +
      `${WRITERS[others]}: they would repeat messages forever. Set format: '${others}' for the queue in every process`,
  );
}
