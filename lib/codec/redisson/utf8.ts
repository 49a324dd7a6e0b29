import { isUtf8 } from 'node:buffer';
import { unreadable } from './payload-errors.js';

/** The text of bytes that must be UTF-8, as it is: nothing is replaced, no byte order mark is dropped. */
export function readUtf8(bytes: Buffer, codec: string): string {
  if (!isUtf8(bytes)) throw unreadable(bytes, codec, 'they are not UTF-8');
  return bytes.toString('utf8');
}
