import { TestEnvironment } from 'jest-environment-node';

/** Skips the rest of a suite once a test has failed: with a mutant, all of them may wait for their timeouts. */
export default class StopAtFailure extends TestEnvironment {
  #hasFailed = false;

  handleTestEvent({ name, test }) {
    if (name === 'test_done' && test.errors.length > 0) this.#hasFailed = true;
    if (name === 'test_start' && this.#hasFailed) test.mode = 'skip';
  }
}
