/** The rows of the benchmarks that the landing page shows, and the words that it says them in. */
const ROWS = [
  { row: 'Lateness: 100 per second, p99', title: 'Lateness, p99', note: '100 messages a second' },
  { row: 'Lone message: lateness, p50', title: 'Lateness of a lone message, p50', note: '' },
  { row: 'Offers: one by one', title: 'Offers, one after the other', note: '' },
  { row: 'Offers: lists of 1,000', title: 'Offers in lists of 1,000', note: '' },
  { row: 'Draining a backlog: handled', title: 'Messages handled of a backlog', note: '' },
  { row: 'Draining a backlog: server calls per message', title: 'Server calls per message', note: '' },
];

const PREFIXES = { k: 1e3, M: 1e6 };

/**
 * Reads the bars from the table of `docs/benchmarks.md`, so that nobody copies a figure.
 *
 * @returns for each: what was measured, and the figures of both with the lengths of their bars
 * @throws Error that names the row or column that the table lacks
 */
export function readBars(page) {
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(cellsOf);
  const header = rows.find((row) => row.includes('this package') && row.includes('BullMQ'));
  if (!header) throw new Error("docs/benchmarks.md has no table with the columns 'this package' and 'BullMQ'.");
  const [better, ours, theirs] = ['better', 'this package', 'BullMQ'].map((name) => header.indexOf(name));
  return ROWS.map(({ row: name, title, note }) => {
    const row = rows.find(([first]) => first === name);
    if (!row) throw new Error(`docs/benchmarks.md has no row '${name}', which the landing page shows.`);
    const figures = [figureOf(row[ours], name), figureOf(row[theirs], name)];
    const most = Math.max(...figures.map(({ value }) => value));
    const [our, their] = figures.map(({ text, value }) => ({ text, share: value / most }));
    return { title, note, better: row[better] === '↑' ? 'more is better' : 'less is better', our, their };
  });
}

const cellsOf = (line) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

function figureOf(cell, row) {
  const text = cell.replace(/ ±.*/, '');
  const [, number, prefix] = /^([\d.,]+)(k|M)?/.exec(text) ?? [];
  if (number === undefined) throw new Error(`docs/benchmarks.md: '${cell}' in the row '${row}' is not a figure.`);
  return { text, value: Number(number.replaceAll(',', '')) * (PREFIXES[prefix] ?? 1) };
}
