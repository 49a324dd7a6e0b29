import { hash } from 'node:crypto';
import type { MessageBody } from 'nestjs-delay-queue/layouts';

/** The digest by which a message is found when only its value is known: `digest_of` in `offered.lua`. */
export function valueDigest(value: MessageBody): string {
  return hash('sha1', value).slice(0, 16);
}
