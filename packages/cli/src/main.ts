#!/usr/bin/env node
import process from 'node:process';
import { FINE } from './exit-codes.js';
import { runCommandLine } from './program.js';

// The reader of the output, such as `head`, may end first.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(FINE);
  throw error;
});

const terminal = { input: process.stdin, output: process.stdout, problems: process.stderr };
void runCommandLine(process.argv.slice(2), terminal).then((code) => (process.exitCode = code));
