import { isUtf8 } from 'node:buffer';
import { unreadable } from './payload-errors.js';

/** Reads bytes that must be exactly UTF-8: nothing is replaced, and no byte order mark is dropped. */
export function readUtf8(bytes: Buffer, codec: string): string {
  if (!isUtf8(bytes)) throw unreadable(bytes, codec, 'they are not UTF-8');
  return bytes.toString('utf8');
}
