/** `npm run release:version` turns the changesets into versions and changelogs, for a pull request. */
import { execFileSync } from 'node:child_process';
import { runChangesets } from './changesets.js';
import { ROOT } from './packages.js';

const run = (...command) => execFileSync(command[0], command.slice(1), { cwd: ROOT, stdio: 'inherit' });

runChangesets(['version'], ROOT);
run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund');
run('npx', 'prettier', '--write', '--log-level', 'warn', '**/CHANGELOG.md');
