import type { DelayedMessage } from '../message/message.js';
import type { BatchSize } from '../options/queue-options-schema.js';
import type { HandlerRepeat, HandlerSettings } from '../options/queue-options.js';
import type { PayloadCheck } from '../message/payload-check.js';

/** The message of a handler; an array if it takes batches. */
export type HandlerMessage = DelayedMessage | readonly DelayedMessage[];

/** Calls a handler with a payload and its message or, for a batch, with an array of each. */
export type HandlerCall = (payload: unknown, message: HandlerMessage) => unknown;

/** A method that handles messages, bound to its instance. */
export interface DelayedMessageHandler {
  /** Class and method, for errors. */
  readonly name: string;
  /** The module of its class, for errors. */
  readonly module?: string;
  /** The only type it handles; empty: every type without a handler of its own. */
  readonly type: string;
  readonly options: HandlerSettings;
  /** Checks the payload before the call. The handler gets its output. */
  readonly check?: PayloadCheck | undefined;
  /** Set if it takes batches. */
  readonly batch?: BatchSize | undefined;
  /** Set if it has a repeating message. */
  readonly repeat?: HandlerRepeat | undefined;
  readonly call: HandlerCall;
}
