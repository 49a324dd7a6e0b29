import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './packages.js';

/** Where commands leave what they have shown. */
export const RECORDS = join(ROOT, 'temp', 'proof');

/** What is shipped, without the manifests, which every release changes. */
const CODE = ['lib', 'packages', 'schematics'];
const EXCEPT = ['**/package.json', '**/*.md', 'packages/*/test/**'];
const PATHS = ['--', ...CODE, ...EXCEPT.map((path) => `:(exclude,glob)${path}`)];

/** Read when this module is loaded: a command may take hours, and the project changes in the meantime. */
const commit = commitOfCode();

/**
 * Leaves the record of a command that has ended, for `npm run proof`. A later run of the same command replaces it.
 *
 * @param run - the npm `script`, its arguments, whether it `passed`, and the `figures` that it has printed: numbers by what was counted,
 * such as `{ seeds: 2 }`, and texts by what they are about
 */
export function recordProof({ script, args, passed, figures }) {
  const words = script === 'test' ? ['npm', 'test'] : ['npm', 'run', script];
  const command = [...words, ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
  const record = { command, commit, date: new Date().toISOString(), passed, figures };
  const name = [script, ...args].join(' ').replace(/[^\w.]+/g, '-');
  mkdirSync(RECORDS, { recursive: true });
  writeFileSync(join(RECORDS, `${name}.json`), JSON.stringify(record, null, 2));
}

/**
 * Names the last commit that changed what is shipped: commits of documents and tests alone leave proofs as they are.
 *
 * @returns with `-dirty` behind it if there are changes that are not committed; `unknown` without git
 */
export function commitOfCode() {
  const commit = git('log', '-1', '--format=%h', '--abbrev=8', ...PATHS);
  return git('status', '--porcelain', ...PATHS) ? `${commit}-dirty` : commit || 'unknown';
}

function git(...args) {
  const { stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return stdout?.trim() ?? '';
}
