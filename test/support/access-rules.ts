import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { NeededCommand } from '../../lib/redis/check/permissions.js';

/** Commands that are sent without a queue and that a connection can do without. */
const BORNE = ['client|setname', 'client|id', 'client|unblock', 'info', 'ping', 'unsubscribe'];

/** The rules of a user that a page of the documentation prints under a name. */
export async function printedRules(page: string, name: string): Promise<string[]> {
  const text = await readFile(path.resolve(import.meta.dirname, '../../docs', page), 'utf8');
  const line = new RegExp(`<!-- acl: ${name} -->\\s*\`\`\`\\s*user \\S+ (.*?)\\n\`\`\``).exec(text)?.[1];
  if (line === undefined) throw new Error(`${page} prints no user for: ${name}`);
  return line.split(' ');
}

/** The rules for some commands, and for those that are borne. */
export function rulesFor(needed: Iterable<NeededCommand>, borne = BORNE): string[] {
  const names = [...[...needed].map(({ name }) => name.toLowerCase()), ...borne];
  return [...new Set(names.map((name) => `+${name}`))].sort();
}

export const commandRules = (rules: readonly string[]) => rules.filter((rule) => rule.startsWith('+')).sort();
