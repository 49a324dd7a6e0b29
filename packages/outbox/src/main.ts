#!/usr/bin/env node
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { Dialect } from './database/outbox-database.js';
import { createTableSql, upgradeTableSql } from './table/migration.js';

const HELP = `Usage: nestjs-delay-queue-outbox migration <postgresql|mysql|sqlite> [--table <name>]
       nestjs-delay-queue-outbox upgrade <postgresql|mysql|sqlite> [--table <name>]

migration prints the SQL that creates the table of the outbox, upgrade the SQL that brings one of an earlier version up to date. MariaDB is
mysql.
`;

const COMMANDS: Readonly<Record<string, typeof createTableSql>> = {
  migration: createTableSql,
  upgrade: upgradeTableSql,
};

const WRONG_USAGE = 2;

/** Prints what was asked for, and returns the exit code. */
function run(words: readonly string[]): number {
  try {
    const options = { table: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
    const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
    const [command = '', dialect = '', ...others] = positionals;
    if (values.help) {
      process.stdout.write(HELP);
      return 0;
    }
    const sqlOf = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
    if (!sqlOf || others.length > 0) throw new Error('Give a command, migration or upgrade, and one dialect.');
    process.stdout.write(sqlOf(dialect as Dialect, values.table));
    return 0;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    return WRONG_USAGE;
  }
}

process.exitCode = run(process.argv.slice(2));
