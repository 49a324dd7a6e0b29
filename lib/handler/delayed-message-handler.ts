import type { DelayedMessage } from '../message/message.js';
import type { BatchSize } from '../options/queue-options-schema.js';
import type { HandlerRepeat, HandlerSettings } from '../options/queue-options.js';
import type { PayloadCheck } from './definition/payload-check.js';

/** What a handler gets besides the payload; an array, if it takes many messages in one call. */
export type HandlerMessage = DelayedMessage | readonly DelayedMessage[];

/** Calls a handler with a payload and its message; or, for a batch, with an array of each. */
export type HandlerCall = (payload: unknown, message: HandlerMessage) => unknown;

/** A method that handles messages, bound to its instance. */
export interface DelayedMessageHandler {
  /** Class and method, for people. */
  readonly name: string;
  /** The module of its class, for errors; undefined: of none. */
  readonly module?: string;
  /** The only type it handles; empty: every message without a handler of its own type. */
  readonly type: string;
  /** The options of this handler alone. */
  readonly options: HandlerSettings;
  /** Checks the payload before the call, and makes of it what the handler gets. */
  readonly check?: PayloadCheck | undefined;
  /** If it takes many messages in one call. */
  readonly batch?: BatchSize | undefined;
  /** If it has a message that repeats. */
  readonly repeat?: HandlerRepeat | undefined;
  readonly call: HandlerCall;
}
