import type { DelayedMessage, MessageHeaders } from '../message/message.js';
import type { MessageCodec } from '../codec/message-codec.js';
import type { Claim, ClaimedMessage } from '../store/message-flow.js';

/** A claimed message on its way through a handler; what the handler gets to see is {@link DelayedMessage}. */
export class Delivery implements DelayedMessage {
  readonly id: string;
  payload: unknown;
  headers: MessageHeaders = {};
  readonly attempt: number;
  readonly dueAt: Date;
  readonly offeredAt: Date;
  #body: Buffer | undefined;
  #controller: AbortController | undefined;
  #abortReason: Error | undefined;

  constructor(
    readonly queue: string,
    message: ClaimedMessage,
  ) {
    this.id = message.id;
    this.attempt = message.failedAttempts + 1;
    this.dueAt = new Date(message.dueAt);
    this.offeredAt = new Date(message.offeredAt);
    this.#body = message.body;
  }

  /**
   * Fills in what the message says, and lets go of its bytes.
   *
   * @throws what the codec throws
   */
  open(codec: Pick<MessageCodec, 'decode'>): void {
    const body = this.#body!;
    this.#body = undefined;
    ({ payload: this.payload, headers: this.headers } = codec.decode(body));
  }

  /** Made when it is first asked for: most handlers never do, and a controller for each message would cost. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#abortReason) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  get abortReason(): Error | undefined {
    return this.#abortReason;
  }

  abort(reason: Error): void {
    if (this.#abortReason) return;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }
}

/** Why the result of an attempt stopped to count; the `reason` of its signal. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

export class HandlerTimeout extends Error {
  override readonly name = 'HandlerTimeout';
}

export class ShuttingDown extends Error {
  override readonly name = 'ShuttingDown';
}

/** A delivery with the claim it is held by. */
export interface HeldDelivery {
  readonly claim: Claim;
  readonly delivery: Delivery;
}
