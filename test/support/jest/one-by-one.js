import TestRunner from 'jest-runner';

/** Runs suites one after the other, also where those of other projects run side by side. */
export default class OneByOne extends TestRunner {
  isSerial = true;
}
