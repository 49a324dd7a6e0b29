import { CALL_FAULTS } from '../network/link.js';
import { FAULT_KINDS } from '../nemesis/nemesis.js';
import { commandOf, type RunOrder, type RunReport } from './run-order.js';
import { isFailure, type RunFailure, type RunOutcome } from './run-in-process.js';

/** The number of violations that are printed. */
const VIOLATIONS = 20;

const WIDTH = 120;

/** Describes the result of a run for people. */
export function textOf(order: RunOrder, outcome: RunOutcome): string {
  return isFailure(outcome) ? textOfFailure(order, outcome) : textOfReport(order, outcome);
}

function textOfReport(order: RunOrder, report: RunReport): string {
  const { lives, seconds, cpuSeconds, virtualTime, starts, processes, events, heap, peak, violations } = report;
  const perMinute = (time: number) => whole((lives / time) * 60);
  return [
    `seed ${order.seed}: ${whole(lives)} lives in ${seconds.toFixed(1)} s, ${perMinute(seconds)} a minute; ` +
      `${cpuSeconds.toFixed(1)} s of CPU, ${perMinute(cpuSeconds)} a minute of it`,
    row('run', [
      `${whole(virtualTime / 1000)} s of virtual time`,
      `${processes} ${processes === 1 ? 'process' : 'processes'}, started ${starts} times`,
      `${(events / Math.max(1, lives)).toFixed(1)} events a life`,
      `${((cpuSeconds / events) * 1e6).toFixed(1)} µs an event`,
      `heap ${whole(heap)} MB, ${whole(peak)} MB in all at most`,
    ]),
    row('messages', counted(report.counts)),
    ...faultRows(report.faults),
    row('digest', [report.digest]),
    ...violations
      .slice(0, VIOLATIONS)
      .map(({ promise, at, id, detail }) => `VIOLATION at ${(at / 1000).toFixed(3)} s: ${promise}: ${id}: ${detail}`),
    ...(violations.length > VIOLATIONS ? [`and ${violations.length - VIOLATIONS} more violations`] : []),
    ...(violations.length > 0 ? [repeat(order)] : []),
  ].join('\n');
}

function textOfFailure(order: RunOrder, { kind, virtualTime, detail }: RunFailure): string {
  return `seed ${order.seed}: ${kind.toUpperCase()} after ${(virtualTime / 1000).toFixed(0)} s of virtual time\n${detail}\n${repeat(order)}`;
}

const repeat = (order: RunOrder) => `again: ${commandOf(order)}`;

function faultRows(faults: Readonly<Record<string, number>>): string[] {
  const kinds = FAULT_KINDS.flatMap((kind) => (faults[kind] === undefined ? [] : [[kind, faults[kind]] as const]));
  if (kinds.length === 0) return [row('faults', ['none'])];
  const calls: Record<string, number> = {};
  const ways: Record<string, number> = {};
  for (const [name, count] of Object.entries(faults)) {
    const way = CALL_FAULTS.find((fault) => name.endsWith(` ${fault}`));
    if (way === undefined) continue;
    const call = name.slice(0, -way.length - 1);
    calls[call] = (calls[call] ?? 0) + count;
    ways[way] = (ways[way] ?? 0) + count;
  }
  return [
    row('faults', counted(Object.fromEntries(kinds))),
    row('calls hit', counted(calls)),
    row('by', counted(ways)),
  ];
}

const counted = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .sort(([, one], [, other]) => other - one)
    .map(([name, count]) => `${name} ${whole(count)}`);

/** A line of items, continued below if they are many. */
function row(name: string, items: readonly string[]): string {
  const lines = [`  ${name.padEnd(10)}`];
  items.forEach((item, i) => {
    const text = i < items.length - 1 ? `${item}, ` : item;
    if (lines.at(-1)!.length + text.trimEnd().length > WIDTH) lines.push(' '.repeat(12));
    lines.push(lines.pop()! + text);
  });
  return lines.map((line) => line.trimEnd()).join('\n');
}

export const whole = (number: number): string => Math.round(number).toLocaleString('en-US');
