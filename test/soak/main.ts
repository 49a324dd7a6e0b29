/** `npm run soak -- --minutes 10 --seed 1`; `test/soak/README.md` explains the options. */
import { recordProof } from '../../release/proof-record.js';
import { figuresOf, summarize } from './report/summary.js';
import { writeReport } from './report/write-report.js';
import { runSoak } from './run-soak.js';
import { redReasons } from './soak-result.js';
import { settingsFrom } from './soak-settings.js';

const settings = settingsFrom(process.argv.slice(2));
console.log(`Soak with seed ${settings.seed}`);
const result = await runSoak(settings, (text) => console.log(`${new Date().toISOString().slice(11, 19)} ${text}`));
const page = writeReport(result);
console.log(`\n${summarize(result)}\n\nReport: ${page}`);
const passed = redReasons(result).length === 0;
recordProof({ script: 'soak', args: process.argv.slice(2), passed, figures: figuresOf(result) });
process.exitCode = passed ? 0 : 1;
