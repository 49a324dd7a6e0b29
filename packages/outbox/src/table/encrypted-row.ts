import { DelayQueueError, EncryptedPayload } from 'nestjs-delay-queue';
import type { RelayTarget } from '../relay/relay-target.js';
import type { NewRow, RowBody } from './row.js';

/** Encrypts what a row holds of its message, if the messages of its queue are encrypted. */
export function encryptedRow(row: NewRow, target: RelayTarget | undefined): NewRow {
  const encryption = target?.encryptionOf?.(row.queue);
  if (!encryption || row.operation === 'cancel') return row;
  const { payload, base64, headers, ...others } = JSON.parse(row.body) as RowBody;
  if (row.operation === 'offer') {
    const content = { type: others.type ?? '', payload: payloadOf({ payload, base64 }), headers: headers ?? {} };
    const encrypted = encryption.encrypt(content);
    return encrypted ? { ...row, operation: 'offer-encrypted', body: JSON.stringify({ ...others, encrypted }) } : row;
  }
  if (payload === undefined && base64 === undefined && headers === undefined) return row;
  // What has been left out stays as it is in the message, so the row cannot have the form of a message.
  const encrypted = encryption.encrypt({ type: '', payload: { payload, base64, headers }, headers: {} });
  return encrypted ? { ...row, operation: 'change-encrypted', body: JSON.stringify({ ...others, encrypted }) } : row;
}

/** Returns the payload of a row; an {@link EncryptedPayload} if it is encrypted. */
export function payloadOf({ payload, base64, encrypted }: RowBody): unknown {
  if (encrypted) return new EncryptedPayload(encrypted.encryptedWith, Buffer.from(encrypted.base64, 'base64'));
  return base64 === undefined ? payload : Buffer.from(base64, 'base64');
}

/** Decrypts what a reschedule changes. @throws DelayQueueError `INVALID_PAYLOAD` without the key */
export function decryptedChange(queue: string, body: RowBody, target: RelayTarget | undefined): RowBody {
  const encryption = target?.encryptionOf?.(queue);
  if (!encryption) {
    const problem = `queue '${queue}': a change is encrypted, and this process has no keys: set the option encryption of the queue`;
    throw new DelayQueueError('INVALID_OPTION', problem);
  }
  const change = encryption.decrypt(payloadOf(body) as EncryptedPayload, '').payload as RowBody;
  const { encrypted: _, ...others } = body;
  return { ...others, ...change };
}
