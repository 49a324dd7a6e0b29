import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ROOT } from './packages.js';

export const PAGE = join(ROOT, 'docs', 'proof.md');

const FAULTS = '[fault](faults.md) of a process, a connection or [Redis](redis-faults.md)';

/** What each command shows. */
export const PROOFS = [
  ['each rule of the API, the stores and their parts holds', 'npm test'],
  ['so do those of whole programs', 'npm run test:programs'],
  ['of the command line', 'npm run test:cli'],
  ["of Redisson's layout", 'npm run test:redisson'],
  ['snippets run, and links and tables are right', 'npm run test:docs'],
  [`each ${FAULTS}, alone`, 'npm run test:faults'],
  ['failovers and resharding', 'npm run test:cluster'],
  ['hostile arguments, payloads, options and bytes in Redis', 'npm run test:hostile'],
  [
    'whatever bytes come from Redis, files and databases are read or refused',
    'npm run fuzz -- --inputs 1000000 --seed 1',
  ],
  ['each store answers random commands as a model does', 'npm run test:model'],
  [
    '[simulated](../test/simulation/README.md) races of processes, in busy and quiet phases',
    'npm run simulate -- --seeds 1-2 --messages 60000 --jobs 1',
  ],
  ['many faults for each message', 'npm run simulate -- --seeds 3-6 --messages 12000 --quiet --jobs 1'],
  ['the simulation finds bugs planted in the library', 'npm run simulate:planted'],
  [
    '[soaked](../test/soak/README.md): real processes and a real Redis, with all faults at once',
    'npm run soak -- --minutes 10 --seed 1',
  ],
  ['the same, on a cluster', 'npm run soak -- --minutes 10 --seed 1 --cluster'],
  ['the same, with sentinels', 'npm run soak -- --minutes 10 --seed 1 --sentinel'],
  ['each [supported server](compatibility.md#what-it-runs-on), and that Redis 6.0 is refused', 'npm run test:versions'],
  ['tests notice small mistakes in the library ([mutants](../test/mutants/README.md))', 'npm run mutants -- --seed 1'],
  ['the code that tests run', 'npm run test:coverage'],
].map(([shows, command]) => ({ shows, command }));

/**
 * Writes the page of proofs as Markdown.
 *
 * @param proven - the `records` of commands, and the `commit` of what is shipped when they were collected
 */
export async function pageOf({ commit, records }) {
  const rows = PROOFS.map(({ shows, command }) => {
    const record = records.find((each) => each.command === command);
    return `| ${shows} | \`${command}\` | ${record ? resultOf(record) : '**not run**'} | ${record ? runOf(record, commit) : ''} |`;
  });
  const text = `# What backs this release

<!-- Written by \`npm run proof\`; a test compares them. -->

Each of these commands leaves a record of what it has printed, and \`npm run proof\` writes this page from
[them](../release/proof.json). A command is run on a commit of what is shipped; commits of tests and documents alone leave it as it is. The
page was written for commit \`${commit}\`: a row of another commit says so.

| what it shows | command | what it printed | run on |
| --- | --- | --- | --- |
${rows.join('\n')}

The [benchmarks](benchmarks.md) have a page of their own.

## Known limits

As the pages state them:

${limits().join('\n')}
`;
  return format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' });
}

function resultOf({ passed, figures }) {
  const texts = Object.entries(figures).map(([what, figure]) =>
    typeof figure === 'number' ? `${figure.toLocaleString('en-US')} ${what}` : `${what}: ${figure}`,
  );
  return `${passed ? '' : '**failed**: '}${texts.join('; ')}`;
}

function runOf(record, commit) {
  const isOther = record.commit !== commit || commit.endsWith('-dirty');
  return `${record.date.slice(0, 10)}, ${isOther ? '**another commit**, ' : ''}\`${record.commit}\``;
}

/** Precedes a list or a paragraph of limits on a page. */
const MARK = '<!-- limits -->';

/** Collects the limits that pages mark, those of the promises first. */
function limits() {
  const folders = ['docs', 'packages', 'test'];
  const pages = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md') && !/node_modules|dist|^proof\.md$/.test(file))
      .map((file) => posix.join(folder, file))
      .sort(),
  );
  return [...new Set(['docs/reliability.md', ...pages])].flatMap(limitsOn);
}

function limitsOn(page) {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const [, title] = /^# (.*)$/m.exec(text) ?? [];
  return text.split(`${MARK}\n\n`).flatMap((_, at, parts) => {
    if (at === 0) return [];
    const heading = parts
      .slice(0, at)
      .join('')
      .match(/^##+ .*$/gm)
      ?.at(-1)
      ?.replace(/^#+ /, '');
    const anchor = heading === undefined ? '' : `#${anchorOf(heading)}`;
    const link = `${posix.relative(dirname('docs/proof.md'), page)}${anchor}`;
    const items = itemsOf(parts[at].split('\n\n')[0]).map(plain);
    return [`- [${[title, heading].filter(Boolean).join(': ')}](${link})`, ...items.map((item) => `  - ${item}`)];
  });
}

/** @param block - a paragraph, a list, or a table of two columns */
function itemsOf(block) {
  if (!block.startsWith('|')) return block.split(/^- /m).filter(Boolean);
  const rows = block.split('\n').map((row) => row.split('|').map((cell) => cell.trim()));
  return rows.slice(2).map(([, what, limit]) => `**${what}**: ${limit}`);
}

/** As GitHub makes it. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');

/** In one line, without links: those of other folders would lead nowhere. */
const plain = (text) =>
  text
    .replace(/\s+/g, ' ')
    .replace(/\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])/g, '$1')
    .trim();
