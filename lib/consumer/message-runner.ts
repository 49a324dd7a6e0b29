import type { MessageCodec, MessageContent } from '../message/codec/message-codec.js';
import { SET_ASIDE, UnknownBodyForm } from '../message/codec/body-forms.js';
import { isInstance } from '../message/failure.js';
import { NO_TYPE } from '../message/message-type.js';
import type { RepeatRule } from '../message/repeat-rule.js';
import type { Outcome } from '../store/consumer-store.js';
import type { CodecDoubt } from '../store/layout.js';
import type { Delivery, Terms } from './delivery.js';
import { FirstDue, type QueueExpiry } from './expiry.js';
import type { Outcomes } from './outcomes.js';
import type { UnknownTypes } from './unknown-types.js';

/**
 * Handles a delivery. Built once for each handler, from the steps that its options need. Whatever the application's code does, it
 * neither throws nor rejects.
 *
 * @returns the outcome itself if the handler is done when it returns: a promise for each message would be costly
 */
export type Handle = (delivery: Delivery) => Outcome | Promise<Outcome>;

/**
 * Gives the terms of a message that repeats.
 *
 * @throws UnknownBodyForm if this process cannot tell the next time
 */
export type RepeatsOf = (delivery: Delivery, rule: RepeatRule, firstDue: FirstDue) => Terms;

/** Holds messages back until there are enough of them for a call. */
export interface WaitingCalls {
  /** The most messages of one call. */
  readonly maxBatch: number;
  /** Waits for no more messages, because the process has no slots for them. */
  flush(): void;
  /** Makes no further call, and releases what waits for one. */
  stop(): void;
}

/** Takes the deliveries of a queue to their handlers: decodes each, and ends it here if no handler is to see it. */
export class MessageRunner {
  readonly waitingCalls: WaitingCalls | undefined;
  /** The most messages of one call of a handler. */
  readonly maxBatch: number;
  readonly #doubt: CodecDoubt | undefined;
  /** True if messages expire that do not say so themselves. */
  readonly #expires: boolean;

  constructor(
    private readonly options: {
      readonly codec: MessageCodec;
      /** By type; empty: for every other type. */
      readonly handles: ReadonlyMap<string, Handle>;
      readonly unknownTypes: UnknownTypes;
      /** Undefined: the layout of the queue has no expiry. */
      readonly expiry?: QueueExpiry | undefined;
      /** Undefined: messages that repeat are left to other processes. */
      readonly repeats?: RepeatsOf | undefined;
      /** Of a queue whose codec may be another one than that of its messages. */
      readonly doubt?: CodecDoubt | undefined;
      /** Of a queue with handlers that take batches. */
      readonly waitingCalls?: WaitingCalls | undefined;
      readonly outcomes: Outcomes;
    },
  ) {
    this.waitingCalls = options.waitingCalls;
    this.maxBatch = options.waitingCalls?.maxBatch ?? 1;
    this.#doubt = options.doubt;
    this.#expires = options.expiry !== undefined && options.expiry.after !== null;
  }

  /** Why no further message of the queue must be claimed; undefined: no reason to stop. */
  get haltReason(): string | undefined {
    return this.#doubt?.haltReason;
  }

  /** Handles one delivery, as {@link Handle} does. */
  run(delivery: Delivery): Outcome | Promise<Outcome> {
    const { codec, handles, unknownTypes } = this.options;
    const body = delivery.body!;
    delivery.body = undefined;
    try {
      const content = codec.decode(body);
      delivery.open(content);
      if (this.#expires || content.expiry || content.repeat || body[0] === SET_ASIDE) {
        delivery.terms = this.#termsOf(delivery, content, body);
      }
      this.#doubt?.read(delivery.id, body);
    } catch (error) {
      return this.#unread(delivery, body, error);
    }
    const unseen = delivery.terms?.outcomeWithoutHandler();
    if (unseen) return unseen;
    const handle = handles.get(delivery.type) ?? handles.get(NO_TYPE);
    return handle ? handle(delivery) : unknownTypes.noHandler(delivery, body);
  }

  /** @throws UnknownBodyForm if it repeats, and this process cannot tell the next time */
  #termsOf(delivery: Delivery, content: MessageContent, body: Buffer): Terms | undefined {
    const { expiry, repeats } = this.options;
    if (!expiry) return undefined;
    const firstDue = new FirstDue(delivery, body, { content, queue: expiry });
    if (!content.repeat) return firstDue;
    if (repeats) return repeats(delivery, content.repeat, firstDue);
    throw new UnknownBodyForm('repeat', 'it repeats, and this process has no calendar (forRoot({ calendar }))');
  }

  #unread(delivery: Delivery, body: Buffer, error: unknown): Outcome {
    const { unknownTypes, outcomes } = this.options;
    if (isInstance(error, UnknownBodyForm)) return unknownTypes.unknownForm(delivery, body, error);
    return this.#doubt?.unread(delivery.id, body, error) ?? outcomes.unreadable(delivery, error);
  }
}
