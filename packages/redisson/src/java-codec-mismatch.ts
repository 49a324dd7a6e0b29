import { DelayQueueError } from 'nestjs-delay-queue';
import type { CodecMismatchCheck, Outcome } from 'nestjs-delay-queue/layouts';
import { guessCodec } from './codec/codec-signs.js';
import type { RedissonCodec } from './codec/redisson-codec.js';

/** Number of unreadable messages after which the codec is at fault rather than the messages. */
const MAX_UNREAD = 10;

/** How long a message waits while the codec may be wrong, ms. */
const PAUSE = 30_000;

/** Maximum number of Java's bodies that are searched for signs of another codec, unless an earlier one proves the configured one right. */
const MAX_LOOKS = 1000;

/** Further advice if bodies seem to be those of another codec. */
const OR_TYPE_INFO = 'or json({ typeInfo: true }) if its classes have @JsonTypeInfo';

/** The id of a message that Java offered, as `redisson/claim` makes it. Messages offered here reveal nothing about Java's codec. */
const ID_OF_JAVAS = /^[0-9a-f]{14}$/;

/** A body that could be read, although another codec wrote it. */
class ForeignBody extends DelayQueueError {
  constructor(body: Buffer) {
    super(
      'INVALID_PAYLOAD',
      `payload: its ${body.length} bytes look like ${guessCodec(body)}; ${OR_TYPE_INFO}, and redrive the message`,
    );
  }
}

/**
 * Distinguishes a wrong codec from a few broken bodies. On a queue that is shared with Java, only the configuration says which codec writes
 * the bodies. With a wrong one, every message would become a dead letter, or be handled with a garbled payload.
 */
export class JavaCodecMismatchCheck implements CodecMismatchCheck {
  /** Ids of messages that could not be read since the last readable one. */
  readonly #unread = new Set<string>();
  /** Ids of messages that another codec wrote. */
  readonly #foreign = new Set<string>();
  #hasRead = false;
  #looksLeft: number;
  #lastBody: Buffer | undefined;

  /** @param name - of the codec, for people */
  constructor(
    private readonly name: string,
    private readonly codec: Pick<RedissonCodec, 'isOwn'>,
  ) {
    this.#looksLeft = codec.isOwn ? MAX_LOOKS : 0;
  }

  get haltReason(): string | undefined {
    if (!this.#lastBody || !this.#isWrong) return undefined;
    const [problem, remedy] =
      this.#foreign.size >= MAX_UNREAD
        ? [`${this.#foreign.size} messages do not look like those of codec ${this.name}`, `, ${OR_TYPE_INFO}`]
        : [`${this.#unread.size} messages in a row could not be read with codec ${this.name}`, ''];
    return (
      `${problem}. The last one looks like ${guessCodec(this.#lastBody)}. No message is lost. ` +
      `Set the codec that Java uses for the queue${remedy}, and restart`
    );
  }

  read(id: string, body: Buffer): void {
    if (this.#looksLeft > 0 && ID_OF_JAVAS.test(id)) this.#look(body);
    this.#hasRead = true;
    if (this.#unread.size > 0) this.#unread.clear();
  }

  unread(id: string, body: Buffer, error: unknown): Outcome | undefined {
    const isForeign = error instanceof ForeignBody;
    const alike = isForeign ? this.#foreign : this.#unread;
    const mayBeReadLater = !alike.has(id) && (isForeign || !this.#hasRead);
    alike.add(id);
    this.#lastBody = body;
    return this.#isWrong || mayBeReadLater ? { kind: 'defer', delay: PAUSE } : undefined;
  }

  #look(body: Buffer): void {
    this.#looksLeft--;
    const isOwn = this.codec.isOwn?.(body);
    if (isOwn === false) throw new ForeignBody(body);
    if (isOwn) {
      this.#looksLeft = 0;
      this.#foreign.clear();
    }
  }

  get #isWrong(): boolean {
    return this.#unread.size >= MAX_UNREAD || this.#foreign.size >= MAX_UNREAD;
  }
}
