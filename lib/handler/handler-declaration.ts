import type { QueueHandlerOptions } from '../options/queue-options.js';

/** What a `@DelayedHandler` was given, unchecked. */
export interface HandlerDeclaration {
  /** A name, a family of names, or the class of a typed queue. */
  readonly queue: unknown;
  /** Undefined: none was given. */
  readonly type: string | undefined;
  readonly options: QueueHandlerOptions;
}
