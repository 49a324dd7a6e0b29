import type { ChaosResult } from './chaos-run.js';
import type { QueueVerdict } from './verdict.js';

/** The number of values that are named for each problem. */
const NAMED = 5;

/** Returns the problems of a run. */
export function problemsOf({ nodes, shared, maxLostByJava, javaFailures }: ChaosResult): string[] {
  const early = [...nodes.early, ...shared.early];
  return [
    ...problem(`${nodes.lost.length} messages that only Node handles are lost`, nodes.lost),
    ...(shared.lost.length > maxLostByJava
      ? problem(`${shared.lost.length} messages are lost, of which Java can have lost ${maxLostByJava}`, shared.lost)
      : []),
    ...problem(`${early.length} messages came early`, early),
    ...problem(`Java failed to take ${javaFailures.length} times`, javaFailures),
  ];
}

export function summaryOf({ nodes, shared, kills, maxLostByJava }: ChaosResult): string {
  return [
    `killed: ${kills.node} Node and ${kills.java} Java processes`,
    `queue that Node handles: ${lineOf(nodes)}`,
    `queue that both handle:  ${lineOf(shared)} (killed Java processes can have lost ${maxLostByJava})`,
  ].join('\n');
}

function lineOf({ offered, lost, early, again, byNode, byJava }: QueueVerdict): string {
  return `${offered} acknowledged, ${byNode} handled by Node, ${byJava} taken by Java, ${lost.length} lost, ${early.length} early, ${again} more than once`;
}

function problem(text: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [`${text}: ${values.slice(0, NAMED).join(', ')}`];
}
