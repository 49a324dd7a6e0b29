import type { FaultWindow } from './nemesis/fault-window.js';
import type { Trend } from './observer/flatness.js';
import type { Sample } from './observer/sample.js';
import type { Verdict } from './oracle/verdict.js';
import type { SoakSettings } from './soak-settings.js';

/** The complete result of a run. */
export interface SoakResult {
  readonly settings: SoakSettings;
  /** ISO time. */
  readonly startedAt: string;
  readonly server: string;
  /** For how long after its end a fault is still blamed, ms. */
  readonly recovery: number;
  /** From the end of the offers until nothing was under way, ms; null if the queues never drained. */
  readonly drainedAfter: number | null;
  readonly verdict: Verdict;
  readonly windows: readonly FaultWindow[];
  readonly samples: readonly Sample[];
  readonly deadLetters: number;
  /** Keys that must not be there after the drain. */
  readonly residue: readonly string[];
  /** The connections after healing. */
  readonly connections: ConnectionCount;
  /** Undefined if the run was too short to tell. */
  readonly trends: readonly Trend[] | undefined;
  /** Processes that ended by themselves. */
  readonly crashes: readonly string[];
}

export interface ConnectionCount {
  readonly found: number;
  /** How many there may be. */
  readonly most: number;
}

/** The reasons why a run is red; none if it is green. */
export function redReasons(result: SoakResult): string[] {
  const { verdict, residue, connections, trends, crashes, drainedAfter } = result;
  const reasons: string[] = [];
  for (const kind of [
    'lost',
    'undone',
    'hostage',
    'early',
    'corrupt',
    'revived',
    'unattributed',
    'staleSettles',
    'expiry',
    'crowded',
    'overtaken',
  ] as const) {
    if (verdict[kind].count > 0) reasons.push(`${NAMES[kind]}: ${verdict[kind].count}`);
  }
  if (result.settings.acknowledge > 0 && verdict.lostByRedis.count > 0)
    reasons.push(`forgotten although they were copied: ${verdict.lostByRedis.count}`);
  if (verdict.handled === 0) reasons.push('no message was handled');
  if (drainedAfter === null) reasons.push('the queues did not drain in time');
  if (residue.length > 0) reasons.push(`left in Redis: ${residue.join(', ')}`);
  if (connections.found > connections.most) {
    reasons.push(`${connections.found} connections after healing, more than ${connections.most}`);
  }
  for (const { what, first, last, bound } of trends ?? []) {
    if (!(last <= bound)) reasons.push(`${what} grew from ${Math.round(first)} to ${Math.round(last)}`);
  }
  return [...reasons, ...crashes];
}

const NAMES = {
  lost: 'lost',
  undone: 'undone by an older call',
  hostage: 'held while nobody handled them',
  early: 'early',
  corrupt: 'corrupt',
  revived: 'handled after they were cancelled or replaced',
  unattributed: 'unexplained duplicates',
  staleSettles: 'stale settles accepted',
  expiry: 'handled after they had expired, or expired too early',
  crowded: 'started without a free permit in their group',
  overtaken: 'started after later ones of their group',
} as const;
