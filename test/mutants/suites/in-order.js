import Sequencer from '@jest/test-sequencer';
import { relative } from 'node:path';
import process from 'node:process';

/** Runs suites in the order of `SUITE_ORDER`, a list of their paths in the project. */
export default class InOrder extends Sequencer {
  sort(tests) {
    const order = JSON.parse(process.env.SUITE_ORDER);
    const rank = ({ path, context }) => order.indexOf(relative(context.config.rootDir, path));
    return [...tests].sort((a, b) => rank(a) - rank(b));
  }
}
