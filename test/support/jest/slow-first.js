import Sequencer from '@jest/test-sequencer';

/** The suites that take longest. Without a cache, jest goes by the sizes of the files, and the last worker would be alone with one. */
const SLOW = [
  'test/contract/',
  'test/e2e/repeat',
  'test/e2e/testing.test',
  'test/programs/sample-app.programs',
  'test/programs/failed-start',
  'packages/redisson/test/',
  'test/layout/',
  'test/e2e/',
  'test/load/many-queues',
  'test/soak/soak.cluster',
];

/** Starts the slow suites first, so that all workers are done at about the same time. */
export default class SlowFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => SLOW.findIndex((slow) => path.includes(`/${slow}`)) + 1 || SLOW.length + 1;
    return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b));
  }
}
