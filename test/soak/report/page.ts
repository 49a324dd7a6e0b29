import { format } from 'echarts';
import { readFileSync } from 'node:fs';
import type { FaultWindow } from '../nemesis/fault-window.js';
import { redReasons, type SoakResult } from '../soak-result.js';
import { faultChart } from './fault-chart.js';
import { growthChart } from './growth-chart.js';
import { latenessChart } from './lateness-chart.js';
import { count, kindsOf, mebibytes } from './summary.js';

const escape = (text: string) => format.encodeHTML(text);
const STYLE = readFileSync(new URL('./page.css', import.meta.url), 'utf8');

/** The report of a run as one page that needs nothing else. */
export function renderPage(result: SoakResult): string {
  const red = redReasons(result);
  const { windows, samples, verdict } = result;
  const end = endOf(result);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Soak ${result.settings.seed}: ${red.length === 0 ? 'green' : 'red'}</title>
<style>${STYLE}</style>
${header(result, red)}
${tiles(result)}
${red.length === 0 ? '' : section('Why it is red', list([...red, ...examples(result)]), 'problem')}
${section('Lateness of the messages due in each second', latenessChart(verdict.lateness.seconds, windows, end))}
${section('Faults', faultChart(windows, end))}
${section('What should stay flat', growthChart(samples, end))}
<div class="columns">
${[lateness(result), duplicates(result), faults(windows), growth(result)].join('\n')}
</div>
</html>
`;
}

/** The time at which the charts end, ms since the run's epoch. */
function endOf({ settings, verdict, windows }: SoakResult): number {
  const lastDue = (verdict.lateness.seconds.at(-1)?.second ?? 0) + 1;
  return Math.max(Math.max(settings.seconds, lastDue) * 1000, ...windows.map(({ to }) => to));
}

function header({ settings, startedAt, server }: SoakResult, red: readonly string[]): string {
  const { seed, layout, seconds, rate, workers, producers, groups, consumer } = settings;
  const colour = red.length === 0 ? 'green' : 'red';
  const facts = [
    `Seed ${seed}`,
    `layout ${layout}`,
    length(seconds),
    `${count(rate)} messages a second`,
    `${workers} workers, ${producers} producers`,
    server,
    `${startedAt.slice(0, 16).replace('T', ' ')} UTC`,
    ...(groups > 0 ? [`groups with ${groups === 1 ? 'one permit' : `${groups} permits`}`] : []),
    ...(consumer === 'module' ? [] : [`a ${consumer} consumer instead of the module`]),
  ];
  return `<header>
<h1>Soak with a nemesis</h1><span class="verdict ${colour}">${colour.toUpperCase()}</span>
<p>${escape(facts.join(' · '))}</p>
</header>`;
}

function tiles({ settings, verdict, windows, drainedAfter, residue }: SoakResult): string {
  const injected = windows.filter((window) => window.injected);
  const zero = (name: string, found: number) => tile(name, count(found), found === 0 ? 'good' : 'bad');
  return `<div class="tiles">
${[
  tile('messages acknowledged', count(verdict.acknowledged)),
  tile(`faults of ${kindsOf(injected).length} kinds`, count(injected.length)),
  zero('lost', verdict.lost.count),
  zero('undone by an older call', verdict.undone.count),
  zero('held while nobody handled them', verdict.hostage.count),
  ...(verdict.lostByRedis.count > 0 ? [tile('lost by Redis', count(verdict.lostByRedis.count))] : []),
  zero('early', verdict.early.count),
  zero('corrupt', verdict.corrupt.count),
  zero('unattributed duplicates', verdict.unattributed.count),
  zero('stale settles accepted', verdict.staleSettles.count),
  zero('handled after cancel or replace', verdict.revived.count),
  ...(settings.groups > 0 ? [zero('beside too many of their group', verdict.crowded.count)] : []),
  ...(settings.groups === 1 ? [zero('behind later ones of their group', verdict.overtaken.count)] : []),
  zero('keys left in Redis', residue.length),
  drainedAfter === null ? tile('until drained', 'never', 'bad') : tile('until drained', length(drainedAfter / 1000)),
].join('\n')}
</div>`;
}

function tile(name: string, value: string, mood: 'good' | 'bad' | '' = ''): string {
  return `<div class="tile ${mood}"><b>${value}</b><span>${escape(name)}</span></div>`;
}

function examples({ verdict }: SoakResult): string[] {
  const { lost, undone, hostage, early, corrupt, revived, unattributed, staleSettles, expiry } = verdict;
  const { crowded, overtaken } = verdict;
  const ofGroups = [crowded, overtaken];
  const findings = [lost, undone, hostage, early, corrupt, revived, unattributed, staleSettles, expiry, ...ofGroups];
  return findings.flatMap((found) => found.examples);
}

function lateness({ verdict, recovery }: SoakResult): string {
  const rows = Object.entries({
    'outside of faults': verdict.lateness.outside,
    'in faults': verdict.lateness.inFaults,
  });
  return section(
    'Lateness, ms',
    `<p>From each due time to the first start of a handler. A fault counts until ${recovery / 1000} s after its end.</p>
${table(
  rows.map(([name, { count: messages, p50, p99, max }]) => [name, ...[messages, p50, p99, max].map(count)]),
  ['messages', 'p50', 'p99', 'max'],
)}`,
  );
}

function duplicates({ verdict }: SoakResult): string {
  const { refusedSettles, failed, unknown, starts, unattributed } = verdict;
  const causes = { ...verdict.duplicates, 'nothing explains it': unattributed.count };
  return section(
    'Handlers started again, by cause',
    `<p>Of ${count(starts)} starts. The fence refused ${count(refusedSettles)} late outcomes; ${count(failed)} offers failed and ${count(unknown)} were of unknown outcome, and were made again.</p>
${table(Object.entries(causes).map(([cause, times]) => [cause, count(times)]))}`,
  );
}

function faults(windows: readonly FaultWindow[]): string {
  return section('Faults by kind', table(kindsOf(windows).map(([kind, times]) => [kind, count(times)])));
}

function growth({ trends, connections, deadLetters, crashes }: SoakResult): string {
  const rows = (trends ?? []).map(({ what, first, last, bound }) => {
    const show = what === 'connections' ? count : mebibytes;
    return [what, show(first), show(last), show(bound)];
  });
  const judged =
    rows.length === 0
      ? '<p>The run was too short to judge growth.</p>'
      : `<p>Medians of the first and the last calm.</p>${table(rows, ['first', 'last', 'at most'])}`;
  const left = table([
    [`connections after healing, of at most ${connections.most}`, count(connections.found)],
    ['dead letters, all rejected by their handlers', count(deadLetters)],
    ['processes that ended by themselves', count(crashes.length)],
  ]);
  return section('Growth, and what is left', judged + left);
}

function section(title: string, content: string, kind = ''): string {
  return `<section class="${kind}"><h2>${title}</h2>${content}</section>`;
}

function list(texts: readonly string[]): string {
  return `<ul>${texts.map((text) => `<li>${escape(text)}</li>`).join('')}</ul>`;
}

/** The first cell of each row is its name. */
function table(rows: readonly (readonly string[])[], titles: readonly string[] = []): string {
  const line = ([name = '', ...cells]: readonly string[]) =>
    `<tr><th>${escape(name)}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  const head = titles.length === 0 ? '' : `<thead>${line(['', ...titles])}</thead>`;
  return `<table>${head}${rows.map(line).join('')}</table>`;
}

function length(seconds: number): string {
  return seconds >= 120 ? `${+(seconds / 60).toFixed(1)} min` : `${+seconds.toFixed(1)} s`;
}
