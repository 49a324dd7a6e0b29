import type { Figures } from '../../../release/proof-record.js';
import type { FaultWindow } from '../nemesis/fault-window.js';
import type { Lateness } from '../oracle/verdict.js';
import { redReasons, type SoakResult } from '../soak-result.js';

/** Summarizes a run in a few lines. */
export function summarize(result: SoakResult): string {
  const { settings, verdict, drainedAfter, deadLetters, connections, residue } = result;
  const { lateness } = verdict;
  const red = redReasons(result);
  const injected = result.windows.filter((window) => window.injected);
  return [
    `seed ${settings.seed}, layout ${settings.layout}, ${settings.seconds} s, ${settings.rate} messages/s, ${settings.workers} workers, ${settings.producers} producers, ${result.server}`,
    `messages      ${count(verdict.acknowledged)} acknowledged, ${count(verdict.handled)} handled, ${count(verdict.cancelled)} cancelled, ${count(deadLetters)} dead letters; ${count(verdict.starts)} starts`,
    `              ${count(verdict.changed)} changed, ${count(verdict.followed)} followers, ${count(verdict.aborted)} aborted, ${count(verdict.expired)} expired`,
    `offers        ${count(verdict.failed)} failed and ${count(verdict.unknown)} of unknown outcome, made again`,
    `faults        ${injected.length} of ${kindsOf(injected).length} kinds, one every ${(settings.seconds / injected.length || 0).toFixed(1)} s`,
    `lost          ${count(verdict.lost.count)}`,
    `              ${count(verdict.undone.count)} undone by an older call, ${count(verdict.lostByRedis.count)} lost by Redis`,
    `hostages      ${count(verdict.hostage.count)} held while nobody handled them`,
    `early         ${count(verdict.early.count)}`,
    `corrupt       ${count(verdict.corrupt.count)}`,
    `revived       ${count(verdict.revived.count)} handled after they had been cancelled or replaced`,
    `duplicates    ${count(verdict.unattributed.count)} unattributed${attributions(verdict.duplicates)}`,
    `stale settles ${count(verdict.staleSettles.count)} accepted, ${count(verdict.refusedSettles)} refused`,
    `expiry        ${count(verdict.expiry.count)} handled after they had expired, or expired too early`,
    ...groupLines(result),
    `lateness      ${late(lateness.outside)} outside of faults`,
    `              ${late(lateness.inFaults)} in faults and the ${result.recovery / 1000} s after them`,
    `drained       ${drainedAfter === null ? 'not in time' : `after ${(drainedAfter / 1000).toFixed(1)} s`}`,
    `residue       ${residue.length === 0 ? 'none' : residue.join(', ')}`,
    `connections   ${connections.found} of at most ${connections.most}`,
    ...trendLines(result),
    red.length === 0 ? 'GREEN' : `RED: ${red.join('; ')}`,
  ].join('\n');
}

/** The figures of the summary by which a run is compared with others. */
export function figuresOf(result: SoakResult): Figures {
  const { verdict, windows, server } = result;
  const injected = windows.filter((window) => window.injected);
  const red = redReasons(result);
  return {
    'messages acknowledged': verdict.acknowledged,
    handled: verdict.handled,
    faults: injected.length,
    'kinds of faults': kindsOf(injected).length,
    lost: verdict.lost.count,
    early: verdict.early.count,
    'unattributed duplicates': verdict.unattributed.count,
    'lost by Redis': verdict.lostByRedis.count,
    server,
    ...(red.length > 0 && { reasons: red.join('; ') }),
  };
}

/** The kinds of faults, the most frequent first. */
export function kindsOf(windows: readonly FaultWindow[]): (readonly [kind: string, times: number])[] {
  const times = new Map<string, number>();
  for (const { kind } of windows) times.set(kind, (times.get(kind) ?? 0) + 1);
  return [...times].sort(([, a], [, b]) => b - a);
}

export const count = (value: number): string => value.toLocaleString('en');

export const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

function late({ p50, p99, max, count: messages }: Lateness): string {
  return `p50 ${count(p50)} ms, p99 ${count(p99)} ms, max ${count(max)} ms of ${count(messages)}`;
}

function attributions(duplicates: Readonly<Record<string, number>>): string {
  const parts = Object.entries(duplicates).map(([cause, times]) => `${count(times)} ${cause}`);
  return parts.length > 0 ? `; ${parts.join(', ')}` : '';
}

function groupLines({ settings, verdict }: SoakResult): string[] {
  if (settings.groups === 0) return [];
  const { groups, crowded, overtaken } = verdict;
  return [
    `groups        ${count(groups.groups)} of concurrency ${settings.groups}: ${count(crowded.count)} of ${count(groups.permitUses)} started although the group had no permit left`,
    ...(settings.groups > 1
      ? []
      : [`              ${count(overtaken.count)} of ${count(groups.ordered)} started after later ones`]),
  ];
}

function trendLines({ trends }: SoakResult): string[] {
  if (!trends) return ['growth        not judged, the run is too short'];
  return trends.map(({ what, first, last, bound }) => {
    const show = what === 'connections' ? String : mebibytes;
    return `growth        ${what}: ${show(first)} at first, ${show(last)} at last, at most ${show(bound)}`;
  });
}
