/** Provides what is done once the handlers of this process have started. */
export const START_TASK = Symbol('nestjs-delay-queue:start-task');

/** What is done once the handlers of this process have started. */
export interface StartTask {
  /** The start-up of the application waits for it, and fails if it does. */
  run(): Promise<void>;
}
