import type { RepeatsOf } from '../consumer/message-runner.js';

/** The module options with every default filled in. */
export const RESOLVED_OPTIONS = Symbol('nestjs-delay-queue:options');
/** The `Stores` of this process. */
export const STORES = Symbol('nestjs-delay-queue:stores');
/** The `Clock` of this process. */
export const CLOCK = Symbol('nestjs-delay-queue:clock');
/** Returns random numbers from 0 to 1. */
export const RANDOM = Symbol('nestjs-delay-queue:random');
/** The `TestOverrides`; undefined outside tests. */
export const TEST_OVERRIDES = Symbol('nestjs-delay-queue:test-overrides');

/** The `Hooks` around offers and handler calls; absent: none. */
export const HOOKS = Symbol('nestjs-delay-queue:hooks');

/** Injects {@link HandledRepeats}; absent: repeating messages are left to other processes. */
export const REPEATS = Symbol('nestjs-delay-queue:repeats');

/** How the consumers of this process handle repeating messages. */
export interface HandledRepeats {
  /**
   * Returns the function that computes the `Terms` of a repeating message; undefined if this process has no calendar.
   * @param attempts - the maximum number of attempts per message
   */
  termsFor(attempts: number): RepeatsOf | undefined;
}

/** Injects the {@link StartTask}; absent: none. */
export const START_TASK = Symbol('nestjs-delay-queue:start-task');

/** A task that runs once this process's handlers have started. */
export interface StartTask {
  /** The application's startup waits for this, and fails if it does. */
  run(): Promise<void>;
}
