/** `npm run chaos:redisson -- --minutes 10 --messages 100000`; the README one folder up explains the options. */
import { missingJava } from '../java-build.js';
import { type ChaosResult, runChaos } from './chaos-run.js';
import { chaosSettings } from './chaos-settings.js';
import { problemsOf, summaryOf } from './chaos-report.js';

const problem = missingJava();
if (problem !== undefined) throw new Error(`This needs Java: ${problem}`);
const settings = chaosSettings(process.argv.slice(2));
console.log(`Java (Redisson ${settings.line}) and Node on two queues, seed ${settings.seed}`);
const result: ChaosResult = await runChaos(settings, (text) =>
  console.log(`${new Date().toISOString().slice(11, 19)} ${text}`),
);
console.log(summaryOf(result));
const problems = problemsOf(result);
for (const each of problems) console.error(`RED: ${each}`);
process.exit(problems.length > 0 ? 1 : 0);
