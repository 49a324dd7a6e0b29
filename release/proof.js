/**
 * `npm run proof` takes the newest record that each command has left in `temp/proof` into `release/proof.json`, and writes `docs/proof.md`
 * from that file.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './packages.js';
import { commitOfCode, RECORDS } from './proof-record.js';
import { PAGE, pageOf, PROOFS } from './proofs.js';

const FILE = join(ROOT, 'release', 'proof.json');

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const left = existsSync(RECORDS) ? readdirSync(RECORDS).map((name) => read(join(RECORDS, name))) : [];
const kept = existsSync(FILE) ? read(FILE).records : [];
const records = PROOFS.flatMap(({ command }) => {
  const all = [...kept, ...left].filter((record) => record.command === command);
  return all.sort((a, b) => (a.date < b.date ? -1 : 1)).slice(-1);
});
const proven = { commit: commitOfCode(), records };
writeFileSync(FILE, `${JSON.stringify(proven, null, 2)}\n`);
writeFileSync(PAGE, await pageOf(proven));
