import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../build/folders.js';
import { readBars } from '../../build/bars.js';

const PAGE = join(ROOT, 'docs/benchmarks.md');

/** The bars of the landing page. */
export default {
  watch: [PAGE],
  load: () => readBars(readFileSync(PAGE, 'utf8')),
};
