#!/usr/bin/env node
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { Dialect } from './database/outbox-database.js';
import { createTableSql } from './table/migration.js';

const HELP = `Usage: nestjs-delay-queue-outbox migration <postgresql|mysql|sqlite> [--table <name>]

Prints the SQL that creates the table of the outbox. MariaDB is mysql.
`;

const WRONG_USAGE = 2;

/** Prints what was asked for, and returns the exit code. */
function run(words: readonly string[]): number {
  try {
    const options = { table: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
    const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
    const [command, dialect = '', ...others] = positionals;
    if (values.help) {
      process.stdout.write(HELP);
      return 0;
    }
    if (command !== 'migration' || others.length > 0)
      throw new Error('There is one command, migration, with one dialect.');
    process.stdout.write(createTableSql(dialect as Dialect, values.table));
    return 0;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    return WRONG_USAGE;
  }
}

process.exitCode = run(process.argv.slice(2));
