/**
 * Converts payloads to and from the bytes of a queue that is shared with Java. Both sides must use the same codec: the bytes do not show
 * which one wrote them. Both methods are synchronous; an error of a codec of your own becomes the `cause` of an `INVALID_PAYLOAD`.
 * @example
 * ```ts
 * const latin1 = {
 *   encode: (payload: unknown) => Buffer.from(String(payload), 'latin1'),
 *   decode: (bytes: Buffer) => bytes.toString('latin1'),
 * };
 * DelayQueueModule.forRoot({ queues: { orders: { layout: redisson({ codec: latin1 }) } } });
 * ```
 */
export interface PayloadCodec {
  /** Encodes a payload. @throws DelayQueueError `INVALID_PAYLOAD` if the codec cannot represent the payload exactly */
  encode(payload: unknown): Buffer;

  /**
   * Decodes a payload. The bytes must not change while it is in use, because it may share their memory.
   * @throws DelayQueueError `INVALID_PAYLOAD` for bytes that this codec does not write; the error quotes none of them
   */
  decode(bytes: Buffer): unknown;
}

/** A codec whose bytes are UTF-8. Its text is encoded by the socket, where that is cheapest. */
export interface TextCodec extends Pick<PayloadCodec, 'decode'> {
  /** Encodes a payload. @throws DelayQueueError `INVALID_PAYLOAD` if the codec cannot represent the payload exactly */
  encode(payload: unknown): string;

  /** True if bytes that can be decoded were written by this codec; undefined if they may be from another one. */
  readonly isOwn?: (bytes: Buffer) => boolean | undefined;
}

/** The name of one of Redisson's codecs in this package. */
export type CodecName = 'json' | 'string' | 'buffer' | 'jackson' | 'kryo5';
