/**
 * How payloads become the bytes of a queue that Java shares, and back. Both sides must use the same codec: nothing in the
 * bytes tells which one wrote them.
 */
export interface PayloadCodec {
  /**
   * @throws DelayQueueError `INVALID_PAYLOAD` for what the codec has no bytes for; nothing is altered to make it fit
   */
  encode(payload: unknown): Buffer;

  /**
   * The bytes must stay as they are while the payload is in use: a payload of bytes may share their memory.
   *
   * @throws DelayQueueError `INVALID_PAYLOAD` for bytes that this codec does not write; the message quotes none of them
   */
  decode(bytes: Buffer): unknown;
}

/** A codec whose bytes are UTF-8: its text is encoded by the socket, where that costs least. */
export interface TextCodec extends Pick<PayloadCodec, 'decode'> {
  /**
   * @throws DelayQueueError `INVALID_PAYLOAD` for what the codec has no text for
   */
  encode(payload: unknown): string;
}

/** A codec of Redisson's that comes with this package. */
export type CodecName = 'json' | 'string' | 'buffer' | 'jackson' | 'kryo5';
