import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ROOT } from './packages.js';

export const PAGE = join(ROOT, 'docs', 'proof.md');

/** What each command tries. */
export const PROOFS = [
  ['the rules of the API, of the stores and of their parts', 'npm test'],
  ['whole programs, their shutdown, and the test tools', 'npm run test:programs'],
  ['the command line', 'npm run test:cli'],
  ["Redisson's layout", 'npm run test:redisson'],
  ['the documentation: its snippets, links and tables', 'npm run test:docs'],
  [
    'each fault of [a process](faults.md), a connection or [Redis](redis-faults.md), and a kill at each [step](lifecycle.md)',
    'npm run test:faults',
  ],
  ['failovers and resharding, of a cluster and with sentinels', 'npm run test:cluster'],
  ['hostile arguments, payloads, options and bytes in Redis', 'npm run test:hostile'],
  ['mutated bytes as they come from Redis, files and databases', 'npm run fuzz -- --inputs 1000000 --seed 1'],
  ['random commands, on each store and on a model of it', 'npm run test:model'],
  [
    '[simulated](../test/simulation/README.md) races of processes, in busy and quiet phases',
    'npm run simulate -- --seeds 1-2 --messages 60000 --jobs 1',
  ],
  ['the same, with many faults for each message', 'npm run simulate -- --seeds 3-6 --messages 12000 --quiet --jobs 1'],
  ['bugs planted in the library, which the simulation must find', 'npm run simulate:planted'],
  [
    'all faults at once, on real processes and a real Redis ([soak](../test/soak/README.md))',
    'npm run soak -- --minutes 10 --seed 1',
  ],
  ['the same, on a cluster', 'npm run soak -- --minutes 10 --seed 1 --cluster'],
  ['the same, with sentinels', 'npm run soak -- --minutes 10 --seed 1 --sentinel'],
  ['each [supported server](compatibility.md#what-it-runs-on); Redis 6.0 must be refused', 'npm run test:versions'],
  [
    'small mistakes in the library, which tests must notice ([mutants](../test/mutants/README.md))',
    'npm run mutants -- --seed 1',
  ],
  ['how much of the code the suites run', 'npm run test:coverage'],
].map(([tries, command]) => ({ tries, command }));

/**
 * Writes the page of proofs as Markdown.
 *
 * @param proven - the `records` of commands, and the `commit` of what is shipped when they were collected
 */
export async function pageOf({ commit, records }) {
  const rows = PROOFS.map(({ tries, command }) => {
    const record = records.find((each) => each.command === command);
    return `| ${tries} | \`${command}\` | ${record ? resultOf(record) : '**not run**'} | ${record ? runOf(record, commit) : ''} |`;
  });
  const text = `# What backs this release

<!-- Written by \`npm run proof\`; a test compares them. -->

Each of these commands leaves a record of what it has printed, and \`npm run proof\` writes this page from
[them](../release/proof.json). A command is run on a commit of what is shipped; commits of tests and documents alone leave it as it is. The
page was written for commit \`${commit}\`: a row of another commit says so.

| what it tries | command | what it printed | run on |
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
