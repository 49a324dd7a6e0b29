import ms from 'ms';
import { DelayQueueError } from 'nestjs-delay-queue';

/**
 * Reads a duration as the library does: whole milliseconds, or text with a unit.
 *
 * @param name - of the argument or option
 * @returns milliseconds
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function readDuration(text: string, name: string): number {
  // `ms` throws on the empty string and on more than 100 characters.
  const milliseconds = text.length > 0 && text.length <= 100 ? ms(text as ms.StringValue) : undefined;
  if (Number.isSafeInteger(milliseconds)) return milliseconds!;
  const rule = "use whole milliseconds or text such as '30s', '10m' or '2h'";
  throw new DelayQueueError('INVALID_ARGUMENT', `${name} is not a duration: ${rule}, not '${text}'`);
}
