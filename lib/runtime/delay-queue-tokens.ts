/** The module options with every default filled in. */
export const RESOLVED_OPTIONS = Symbol('nestjs-delay-queue:options');
/** The `Stores` of this process. */
export const STORES = Symbol('nestjs-delay-queue:stores');
/** The `Clock` of this process. */
export const CLOCK = Symbol('nestjs-delay-queue:clock');
/** Numbers from 0 to 1, for what varies at random. */
export const RANDOM = Symbol('nestjs-delay-queue:random');
/** What stands in for all of these in a test; mostly there is none. */
export const SUBSTITUTES = Symbol('nestjs-delay-queue:substitutes');

/** Provides what is done once the handlers of this process have started. */
export const START_TASK = Symbol('nestjs-delay-queue:start-task');

/** What is done once the handlers of this process have started. */
export interface StartTask {
  /** The start-up of the application waits for it, and fails if it does. */
  run(): Promise<void>;
}
