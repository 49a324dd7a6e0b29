import Sequencer from '@jest/test-sequencer';

/** Folders whose suites take longest. Without a cache, jest goes by the sizes of the files, and the last worker would be alone with one. */
const SLOW = ['model', 'contract', 'docs', 'layout', 'redisson-layout', 'faults'];

/** Starts the slow suites first, so that all workers are done at about the same time. */
export default class SlowFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => SLOW.findIndex((folder) => path.includes(`/test/${folder}/`)) + 1 || SLOW.length + 1;
    return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b));
  }
}
