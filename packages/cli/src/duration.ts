import ms from 'ms';
import { DelayQueueError } from 'nestjs-delay-queue';

/**
 * Reads a duration in ms as the library does: whole milliseconds, or text with a unit.
 * @param name - of the argument or option
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function readDuration(text: string, name: string): number {
  // `ms` throws on the empty string and on more than 100 characters. It ignores case, but M means months elsewhere.
  const isReadable = text.length > 0 && text.length <= 100 && !text.endsWith('M');
  const milliseconds = isReadable ? ms(text as ms.StringValue) : undefined;
  if (Number.isSafeInteger(milliseconds)) return milliseconds!;
  const rule =
    "use whole milliseconds or text such as '30s', '10m' or '2h', with one of the units ms, s, m (minutes), h, d, w, y";
  throw new DelayQueueError('INVALID_ARGUMENT', `${name} is not a duration: ${rule}, not '${text}'`);
}
