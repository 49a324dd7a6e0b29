/** `npm run changeset` asks what a change does to which package, and writes it down for the next release. */
import process from 'node:process';
import { runChangesets } from './changesets.js';
import { ROOT } from './packages.js';

runChangesets(process.argv.slice(2), ROOT);
