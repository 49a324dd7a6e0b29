/** `npm run fuzz -- --inputs 10000000 --seed 1`; `--help` lists the options. */
import { parseArgs } from 'node:util';
import { recordProof } from '../../release/proof-record.js';
import { fuzz } from './fuzz.js';
import { allTargets } from './targets/all-targets.js';

const USAGE = `Reads mutated and random bytes as everything that comes from Redis, a file or a database is read, and writes what was read.
Each input must be read as a value or refused by the documented error, in bounded time and memory; what is written is read as the same.

npm run fuzz -- [options]

  --inputs COUNT   how many inputs (default: 200000)
  --seed NUMBER    draw by this seed (default: a fresh one)
  --only TARGET    only inputs of this target
  --input BASE64   only this input, of the target that --only names
  --help           print this text

Exit code: 0, 1 if an input breaks a rule, 2 if an option is wrong.`;

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '200000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    only: { type: 'string', default: '' },
    input: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
process.exitCode = values.help ? help() : values.input === undefined ? await run() : await repeat(values.input);

function help(): number {
  console.log(USAGE);
  return 0;
}

async function run(): Promise<number> {
  const [inputs, seed] = [Number(values.inputs), Number(values.seed)];
  if (![inputs, seed].every((each) => Number.isSafeInteger(each) && each >= 0)) {
    console.error('--inputs and --seed must be whole numbers from 0.');
    return 2;
  }
  console.log(`seed ${seed}`);
  const { found, seconds, done } = await fuzz({ seed, inputs, only: values.only });
  for (const { target, input, problem } of found) {
    console.log(`\n${target}: ${problem}\nagain: npm run fuzz -- --only '${target}' --input '${input}'`);
  }
  const rate = Math.round(done / seconds);
  console.log(`${done} inputs in ${seconds.toFixed(1)} s, ${rate} a second, ${found.length} broke a rule`);
  const passed = found.length === 0;
  const figures = { inputs: done, 'broke a rule': found.length };
  recordProof({ script: 'fuzz', args: process.argv.slice(2), passed, figures });
  return passed ? 0 : 1;
}

async function repeat(input: string): Promise<number> {
  const target = (await allTargets()).find(({ name }) => name === values.only);
  if (!target) {
    console.error(`--input needs --only with the name of a target.`);
    return 2;
  }
  await target.check(Buffer.from(input, 'base64'));
  console.log('This input breaks no rule.');
  process.exit(0);
}
