import type { DelayedMessage } from '../message/message.js';
import type { BatchSize } from '../options/queue-options-schema.js';
import type { HandlerRepeat, HandlerSettings } from '../options/queue-options.js';
import type { PayloadCheck } from '../message/payload-check.js';

/** What a handler receives: a message, or an array of them if it takes batches. */
export type HandlerMessage = DelayedMessage | readonly DelayedMessage[];

/** Calls a handler with a payload and its message or, for a batch, with an array of each. */
export type HandlerCall = (payload: unknown, message: HandlerMessage) => unknown;

/** A method that handles messages, bound to its instance. */
export interface DelayedMessageHandler {
  /** Class and method, for errors. */
  readonly name: string;
  /** The module of the handler's class, for errors. */
  readonly module?: string;
  /** The only type handled; empty: every type without its own handler. */
  readonly type: string;
  readonly options: HandlerSettings;
  /** Checks the payload before the call. The handler gets the output of the check. */
  readonly check?: PayloadCheck | undefined;
  /** Set if the handler takes batches. */
  readonly batch?: BatchSize | undefined;
  /** Set if the handler declares a repeating message. */
  readonly repeat?: HandlerRepeat | undefined;
  readonly call: HandlerCall;
}
