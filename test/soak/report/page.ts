import { readFileSync } from 'node:fs';
import type { FaultWindow } from '../nemesis/fault-window.js';
import type { Findings, Lateness } from '../oracle/verdict.js';
import { redReasons, type SoakResult } from '../soak-result.js';
import { faultLanes } from './fault-lanes.js';
import { growthChart } from './growth-chart.js';
import { latenessChart } from './lateness-chart.js';
import { type FaultGroup, GROUP_NAMES, groupOf } from './palette.js';
import { count, kindsOf, mebibytes } from './summary.js';
import { escape, TimeAxis } from './svg.js';

const STYLE = readFileSync(new URL('./page.css', import.meta.url), 'utf8');

/** The report of a run as one page that needs nothing else. */
export function renderPage(result: SoakResult): string {
  const red = redReasons(result);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Soak ${result.settings.seed}: ${red.length === 0 ? 'green' : 'red'}</title>
<style>
${STYLE}</style>
</head>
<body>
${header(result, red)}
${tiles(result)}
${problems(result, red)}
${timeline(result)}
<div class="columns">
${[latenessTable(result), duplicatesTable(result), faultsTable(result.windows), resources(result)].join('\n')}
</div>
</body>
</html>
`;
}

function header({ settings, startedAt, server }: SoakResult, red: readonly string[]): string {
  const { seed, layout, seconds, rate, workers, producers, consumer } = settings;
  const colour = red.length === 0 ? 'green' : 'red';
  const handled = consumer === 'module' ? '' : ` · a ${consumer} consumer instead of the module`;
  return `<header>
<h1>Soak with a nemesis</h1><span class="verdict ${colour}">${colour.toUpperCase()}</span>
<p>Seed ${seed} · layout ${layout} · ${length(seconds)} · ${count(rate)} messages a second · ${workers} workers, ${producers} producers · ${escape(server)}, appendfsync always · ${escape(startedAt.slice(0, 16).replace('T', ' '))} UTC${handled}</p>
</header>`;
}

function tiles({ verdict, windows, drainedAfter, residue }: SoakResult): string {
  const injected = windows.filter((window) => window.injected);
  const zero = (name: string, { count: found }: Findings) => tile(name, count(found), found === 0 ? 'good' : 'bad');
  return `<div class="tiles">
${[
  tile('messages acknowledged', count(verdict.acknowledged)),
  tile(`faults of ${kindsOf(injected).length} kinds`, count(injected.length)),
  zero('lost', verdict.lost),
  zero('undone by an older call', verdict.undone),
  zero('held while nobody handled them', verdict.hostage),
  ...(verdict.lostByRedis.count > 0 ? [tile('lost by Redis', count(verdict.lostByRedis.count))] : []),
  zero('early', verdict.early),
  zero('corrupt', verdict.corrupt),
  zero('unattributed duplicates', verdict.unattributed),
  zero('stale settles accepted', verdict.staleSettles),
  zero('handled after cancel or replace', verdict.revived),
  tile('keys left in Redis', count(residue.length), residue.length === 0 ? 'good' : 'bad'),
  tile(
    'until drained',
    drainedAfter === null ? 'never' : length(drainedAfter / 1000),
    drainedAfter === null ? 'bad' : '',
  ),
].join('\n')}
</div>`;
}

function tile(name: string, value: string, mood: 'good' | 'bad' | '' = ''): string {
  return `<div class="tile ${mood}"><b>${value}</b><span>${escape(name)}</span></div>`;
}

function problems({ verdict }: SoakResult, red: readonly string[]): string {
  if (red.length === 0) return '';
  const { lost, undone, hostage, early, corrupt, revived, unattributed, staleSettles } = verdict;
  const examples = [lost, undone, hostage, early, corrupt, revived, unattributed, staleSettles].flatMap(
    (found) => found.examples,
  );
  const items = (texts: readonly string[]) => `<ul>${texts.map((text) => `<li>${escape(text)}</li>`).join('')}</ul>`;
  return `<section class="problem"><h2>Why it is red</h2>${items(red)}${examples.length > 0 ? items(examples) : ''}</section>`;
}

function timeline({ verdict, windows, samples, settings }: SoakResult): string {
  const { seconds } = verdict.lateness;
  const last = Math.max(
    settings.seconds,
    ...seconds.map(({ second }) => second),
    ...windows.map(({ to }) => to / 1000),
  );
  const axis = new TimeAxis(Math.ceil(last) + 1);
  const stroke = (name: string, variable: string) =>
    `<span><i class="stroke" style="background:var(--${variable})"></i>${name}</span>`;
  const groups = [...new Set(windows.map(({ kind }) => groupOf(kind)))];
  const band = (group: FaultGroup) => `<span><i class="${group}"></i>faults of ${GROUP_NAMES[group]}</span>`;
  const veterans = Object.keys(samples.at(-1)?.rss ?? {}).map(Number);
  const curves = [
    { name: 'messages', read: (at: (typeof samples)[number]) => at.stored, show: count },
    { name: 'Redis memory', read: (at: (typeof samples)[number]) => at.usedMemory, show: mebibytes },
    { name: 'connections', read: (at: (typeof samples)[number]) => at.connectedClients, show: count },
    ...veterans.map((index) => ({
      name: `process ${index} memory`,
      read: (at: (typeof samples)[number]) => at.rss[index] ?? NaN,
      show: mebibytes,
    })),
  ];
  return `<section><h2>Lateness of the messages due in each second</h2>
<div class="legend">${stroke('p50', 'p50')}${stroke('p99', 'p99')}${stroke('max', 'max')}${groups.map(band).join('')}</div>
${latenessChart(seconds, windows, axis)}
</section>
<section><h2>Faults</h2>
${faultLanes(windows, axis)}
</section>
<section><h2>What should stay flat</h2>
${curves.map((curve) => growthChart(curve, samples, axis)).join('\n')}
</section>`;
}

function latenessTable({ verdict, recovery }: SoakResult): string {
  const { outside, inFaults } = verdict.lateness;
  const row = (name: string, { count: messages, p50, p99, max }: Lateness) =>
    `<tr><th>${name}</th>${[messages, p50, p99, max].map((value) => `<td>${count(value)}</td>`).join('')}</tr>`;
  return `<section><h2>Lateness, ms</h2><p>From each due time to the first start of a handler. A fault counts until ${recovery / 1000} s after its end.</p>
<table><thead><tr><td></td><td>messages</td><td>p50</td><td>p99</td><td>max</td></tr></thead>
${row('outside of faults', outside)}${row('in faults', inFaults)}</table></section>`;
}

function duplicatesTable({ verdict }: SoakResult): string {
  const { duplicates, refusedSettles, failed, unknown, starts } = verdict;
  const rows = Object.entries(duplicates).map(([cause, times]) => [cause, times] as const);
  return `<section><h2>Handlers started again, by cause</h2><p>Of ${count(starts)} starts. The fence refused ${count(refusedSettles)} late outcomes; ${count(failed)} offers failed and ${count(unknown)} were of unknown outcome, and were made again.</p>
${table([...rows, ['nothing explains it', verdict.unattributed.count]])}</section>`;
}

function faultsTable(windows: readonly FaultWindow[]): string {
  return `<section><h2>Faults by kind</h2>${table(kindsOf(windows))}</section>`;
}

function resources({ trends, connections, deadLetters, crashes }: SoakResult): string {
  const rows = (trends ?? []).map(({ what, first, last, bound }) => {
    const show = what === 'connections' ? count : mebibytes;
    return `<tr><th>${escape(what)}</th><td>${show(first)}</td><td>${show(last)}</td><td>${show(bound)}</td></tr>`;
  });
  const growth =
    rows.length === 0
      ? '<p>The run was too short to judge growth.</p>'
      : `<p>Medians of a first and the last calm.</p><table><thead><tr><td></td><td>first</td><td>last</td><td>at most</td></tr></thead>${rows.join('')}</table>`;
  return `<section><h2>Growth, and what is left</h2>${growth}
${table([
  [`connections after healing, of ${connections.expected}`, connections.found],
  ['dead letters, all rejected by their handlers', deadLetters],
  ['processes that ended by themselves', crashes.length],
])}</section>`;
}

function table(rows: readonly (readonly [string, number])[]): string {
  return `<table>${rows.map(([name, value]) => `<tr><th>${escape(name)}</th><td>${count(value)}</td></tr>`).join('')}</table>`;
}

function length(seconds: number): string {
  return seconds >= 120 ? `${+(seconds / 60).toFixed(1)} min` : `${+seconds.toFixed(1)} s`;
}
