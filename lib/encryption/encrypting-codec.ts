import { isDeepStrictEqual } from 'node:util';
import { encryptedLines } from '../message/codec/body-forms.js';
import { EncryptedPayload } from '../message/codec/encrypted-payload.js';
import type { ErrorCodec, MessageCodec, MessageContent } from '../message/codec/message-codec.js';
import { decodeEncrypted, nativeCodec, unreadable } from '../message/codec/native-codec.js';
import { isInstance } from '../message/failure.js';
import { NO_TYPE } from '../message/message-id.js';
import { UNREAD_ERROR } from '../store/consumer-store.js';
import type { EncryptionKeys } from './encryption-keys.js';

/*
 * The contexts: what is authenticated besides the encrypted bytes and the name of their key. The type decides which handler gets the payload,
 * and travels with it everywhere. Nothing else is bound: the id is not, because a dead letter of a repeating message, or a message that is
 * moved, has another one; nor is the queue, or what scripts add and remove.
 */
const payloadContext = (type: string) => `payload\n${type}`;
const ERROR_CONTEXT = 'error';

/** Begins a stored error that is encrypted. To a process without keys, it is an error like any other, with a name and a message. */
const ENCRYPTED_ERROR = '{"name":"Encrypted"';

/** Makes a codec that encrypts the payload and the headers of what the native codec writes. */
export function encryptingCodec(keys: EncryptionKeys, plain: 'read' | 'refuse'): MessageCodec {
  const decode = (body: Buffer): MessageContent => {
    const encrypted = decodeEncrypted(body);
    if (encrypted) {
      const { payload, headers } = nativeCodec.decode(keys.decrypt(encrypted.payload, payloadContext(encrypted.type)));
      return { ...encrypted, payload, headers };
    }
    const content = nativeCodec.decode(body);
    if (plain === 'read') return content;
    throw unreadable(body, "it is not encrypted (plain: 'refuse')");
  };

  return {
    encode(content) {
      const { type, payload, headers } = content;
      if (isInstance(payload, EncryptedPayload)) return nativeCodec.encode(content);
      const text = keys.currentName && nativeCodec.encode({ type: NO_TYPE, payload, headers });
      const encrypted = text && keys.encrypt(Buffer.from(text as string), payloadContext(type));
      return nativeCodec.encode(encrypted ? { ...content, payload: encrypted, headers: {} } : content);
    },

    /** The size of a payload is that of its encrypted bytes, which include the headers. */
    framingBytes(content) {
      const { currentName } = keys;
      if (currentName === undefined || isInstance(content.payload, EncryptedPayload)) {
        return nativeCodec.framingBytes!(content);
      }
      return nativeCodec.framingBytes!({ ...content, headers: {} }) + encryptedLines(currentName).length;
    },

    decode,
    show: decodeEncrypted,

    isSame(one, other) {
      const [key, otherKey] = [one, other].map((body) => decodeEncrypted(body)?.payload.key);
      return key === otherKey && isDeepStrictEqual(decode(one), decode(other));
    },

    errors: errorCodec(keys),
  };
}

function errorCodec(keys: EncryptionKeys): ErrorCodec {
  return {
    encode(error) {
      // Scripts must recognize the error of an unreadable body. It is the library's own, and says nothing about the payload.
      if (error.startsWith(UNREAD_ERROR)) return error;
      const encrypted = keys.encrypt(Buffer.from(error), ERROR_CONTEXT);
      if (!encrypted) return error;
      const { key, bytes } = encrypted;
      const message = `This error is encrypted with key '${key}'`;
      return JSON.stringify({ name: 'Encrypted', message, key, base64: Buffer.from(bytes).toString('base64') });
    },

    decode(stored) {
      if (!stored.startsWith(ENCRYPTED_ERROR)) return stored;
      try {
        const { key, base64 } = JSON.parse(stored) as { readonly key: string; readonly base64: string };
        return keys.decrypt(new EncryptedPayload(key, Buffer.from(base64, 'base64')), ERROR_CONTEXT).toString();
      } catch {
        return stored;
      }
    },
  };
}
