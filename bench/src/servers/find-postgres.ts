import { readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { isExecutable } from '../../../test/support/is-executable.js';

/** Names the folder of the programs, if it is not one of those below. */
const VARIABLE = 'POSTGRES_BIN';
const PROGRAMS = ['initdb', 'postgres'];

/** Where packages of Debian, of Red Hat and of Homebrew install a version, often without putting it on the PATH. */
const VERSIONS = [
  { folder: '/usr/lib/postgresql', name: /^\d/ },
  { folder: '/usr', name: /^pgsql-\d/ },
  { folder: '/opt/homebrew/opt', name: /^postgresql@\d/ },
  { folder: '/usr/local/opt', name: /^postgresql@\d/ },
];

/** The folder that has the programs of PostgreSQL; undefined: there is none. */
export function findPostgres(): string | undefined {
  const { [VARIABLE]: named, PATH = '' } = process.env;
  if (named) return hasPrograms(named) ? named : undefined;
  return [...PATH.split(delimiter), ...VERSIONS.flatMap(versionsIn)].find(hasPrograms);
}

/** Why PostgreSQL cannot run here, in words, or undefined. */
export function missingPostgres(): string | undefined {
  if (findPostgres() !== undefined) return undefined;
  return `${PROGRAMS.join(' and ')} not found; install a PostgreSQL server, or name the folder of its programs in ${VARIABLE}.`;
}

function hasPrograms(folder: string): boolean {
  return PROGRAMS.every((program) => isExecutable(join(folder, program)));
}

/** The newest first. */
function versionsIn({ folder, name }: (typeof VERSIONS)[number]): string[] {
  let names: string[];
  try {
    names = readdirSync(folder).filter((candidate) => name.test(candidate));
  } catch {
    return [];
  }
  return names
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((version) => join(folder, version, 'bin'));
}
