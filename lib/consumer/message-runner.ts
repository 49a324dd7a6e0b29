import type { ErrorCodec, MessageCodec, MessageContent } from '../message/codec/message-codec.js';
import { PUT_OFF, UnknownBodyForm } from '../message/codec/body-forms.js';
import { isInstance } from '../message/failure.js';
import { NO_TYPE } from '../message/message-id.js';
import type { RepeatProgress } from '../message/repeat-rule.js';
import type { Outcome } from '../store/consumer-store.js';
import type { CodecMismatchCheck } from '../store/layout.js';
import type { Delivery, Terms } from './delivery.js';
import { FirstDue, type QueueExpiry } from './first-due.js';
import type { Outcomes } from './outcomes.js';
import type { UnknownTypes } from './unknown-types.js';

/**
 * Takes a delivery through the steps that its handler's options require. Neither throws nor rejects, whatever the application's code does.
 * If the handler is synchronous, so is the outcome, because a promise for each message would be costly.
 */
export type Handle = (delivery: Delivery) => Outcome | Promise<Outcome>;

/** Returns the terms of a repeating message. Throws {@link UnknownBodyForm} if this process cannot compute its next due time. */
export type RepeatsOf = (delivery: Delivery, rule: RepeatProgress, firstDue: FirstDue) => Terms;

/** Holds messages back until there are enough for a call. */
export interface WaitingCalls {
  /** The maximum number of messages in one call. */
  readonly maxBatch: number;
  /** Stops waiting for more messages, because the process has no slots for them. */
  flush(): void;
  /** Starts no more calls, and releases the messages that wait for one. */
  stop(): void;
}

/** Decodes each delivery of a queue and passes it to its handler, or decides its outcome if no handler should get it. */
export class MessageRunner {
  readonly waitingCalls: WaitingCalls | undefined;
  readonly maxBatch: number;
  readonly #mismatchCheck: CodecMismatchCheck | undefined;
  /** True if the queue sets an expiry for messages without their own. */
  readonly #expires: boolean;

  constructor(
    private readonly options: {
      readonly codec: MessageCodec;
      /** Handlers by message type. The empty type handles all types not listed. */
      readonly handles: ReadonlyMap<string, Handle>;
      readonly unknownTypes: UnknownTypes;
      /** Undefined if the queue's layout has no expiry. */
      readonly expiry?: QueueExpiry | undefined;
      /** Undefined if repeating messages are left to other processes. */
      readonly repeats?: RepeatsOf | undefined;
      /** Set for a queue whose messages may have been written by another codec. */
      readonly mismatchCheck?: CodecMismatchCheck | undefined;
      /** Set for a queue with handlers of batches. */
      readonly waitingCalls?: WaitingCalls | undefined;
      readonly outcomes: Outcomes;
    },
  ) {
    this.waitingCalls = options.waitingCalls;
    this.maxBatch = options.waitingCalls?.maxBatch ?? 1;
    this.#mismatchCheck = options.mismatchCheck;
    this.#expires = options.expiry !== undefined && options.expiry.after !== null;
  }

  /** The reason why this process may claim no more of the queue's messages; undefined if it may. */
  get haltReason(): string | undefined {
    return this.#mismatchCheck?.haltReason;
  }

  /** How the queue stores the errors of dead letters; undefined: as they are. */
  get errors(): ErrorCodec | undefined {
    return this.options.codec.errors;
  }

  run(delivery: Delivery): Outcome | Promise<Outcome> {
    const { codec, handles, unknownTypes } = this.options;
    const body = delivery.body!;
    delivery.body = undefined;
    try {
      const content = codec.decode(body);
      delivery.open(content);
      if (this.#expires || content.expiry || content.repeat || content.retries || body[0] === PUT_OFF) {
        delivery.terms = this.#termsOf(delivery, content, body);
      }
      this.#mismatchCheck?.read(delivery.id, body);
    } catch (error) {
      return this.#unread(delivery, body, error);
    }
    const unseen = delivery.terms?.outcomeWithoutHandler();
    if (unseen) return unseen;
    const handle = handles.get(delivery.type) ?? handles.get(NO_TYPE);
    return handle ? handle(delivery) : unknownTypes.noHandler(delivery, body);
  }

  /** Returns the terms of a message. Throws {@link UnknownBodyForm} if it repeats and this process cannot compute its next due time. */
  #termsOf(delivery: Delivery, content: MessageContent, body: Buffer): Terms | undefined {
    const { expiry, repeats } = this.options;
    if (!expiry) return undefined;
    const firstDue = new FirstDue(delivery, body, { content, queue: expiry });
    if (!content.repeat) return firstDue;
    if (repeats) return repeats(delivery, content.repeat, firstDue);
    throw new UnknownBodyForm('repeat', 'it repeats, and this process does not know how');
  }

  #unread(delivery: Delivery, body: Buffer, error: unknown): Outcome {
    const { unknownTypes, outcomes } = this.options;
    if (isInstance(error, UnknownBodyForm)) return unknownTypes.unknownForm(delivery, body, error);
    return this.#mismatchCheck?.unread(delivery.id, body, error) ?? outcomes.unreadable(delivery, error);
  }
}
