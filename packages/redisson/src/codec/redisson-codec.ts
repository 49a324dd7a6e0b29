import { DelayQueueError, EncryptedPayload } from 'nestjs-delay-queue';
import { isInstance, type MessageCodec, NO_TYPE } from 'nestjs-delay-queue/layouts';
import type { CodecName } from './payload-codec.js';
import { originalOf } from './configured-codec.js';
import { customCodec } from './custom-codec.js';
import type { PayloadCodec } from './payload-codec.js';
import { payloadCodecs } from './payload-codecs.js';

/** A codec whose bytes do not show which codec wrote them. */
export interface RedissonCodec extends MessageCodec {
  /**
   * True if a body that can be decoded was written by this codec, false if by another one whose bytes look alike.
   * @returns undefined if it may be from either; absent if there is no such codec
   */
  readonly isOwn?: (body: Buffer) => boolean | undefined;
}

/** Makes a codec whose bodies are as Java reads and writes them: the payload in the queue's codec, and nothing else. */
export function redissonCodec(codec: CodecName | PayloadCodec): RedissonCodec {
  const payloads = typeof codec === 'string' ? payloadCodecs[codec] : (originalOf(codec) ?? customCodec(codec));
  return {
    encode({ type, payload, headers }) {
      if (type !== NO_TYPE) {
        throw new DelayQueueError(
          'UNSUPPORTED_BY_LAYOUT',
          "type: with layout 'redisson' a message is its payload and nothing else; put it into the payload, or use a queue for each type",
        );
      }
      if (Object.keys(headers).length > 0) {
        throw new DelayQueueError(
          'UNSUPPORTED_BY_LAYOUT',
          "headers: with layout 'redisson' a message has nothing but its payload; put them into the payload",
        );
      }
      if (isInstance(payload, EncryptedPayload)) {
        throw new DelayQueueError(
          'UNSUPPORTED_BY_LAYOUT',
          "payload: with layout 'redisson' messages cannot be encrypted; offer it to a queue with layout 'native', or decrypt it first",
        );
      }
      return payloads.encode(payload);
    },
    decode: (body) => ({ payload: payloads.decode(body), type: NO_TYPE, headers: {} }),
    ...('isOwn' in payloads && { isOwn: payloads.isOwn }),
  };
}
