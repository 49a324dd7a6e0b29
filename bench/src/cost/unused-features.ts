import { findCountable } from '../instructions/budgets.js';
import { countWorkload } from '../instructions/count-instructions.js';
import { WORKLOADS as COUNTED } from '../instructions/workloads.js';
import { type Feature, FEATURES, NO_FEATURE } from '../features.js';
import type { Interval } from '../measure/median-interval.js';
import { formatDifference } from '../report/format.js';
import { layOut } from '../report/table.js';
import { besideOf, systemOf } from '../systems.js';
import { countAllocated } from './allocations.js';
import { compareCpu } from './rounds.js';
import { type Workload, WORKLOADS } from './workloads.js';

export interface UnusedSettings {
  /** The folder of the built library. */
  readonly library: string;
  /** For how long the processor time of a cell is compared at most, ms. */
  readonly limit: number;
  readonly onProgress: (line: string) => void;
}

const MEASURED = WORKLOADS.filter(({ name }) => name === 'inFlight' || name === 'drain');
/** It contains an offer, a transfer, a claim and an outcome. */
const BACKLOG = COUNTED.find(({ name }) => name === 'drain')!;
/** Half the interval, as a share of the median, that needs no further round. */
const NARROW = 0.005;

/** Cost of a message that does not use a feature. */
interface Exact {
  /** Bytes that the process allocates, by workload. */
  readonly allocated: readonly number[];
  /** Undefined: they cannot be counted here. */
  readonly instructions: number | undefined;
}

/**
 * What it costs a message that another queue of the application uses a feature, as a Markdown table. A build without the feature
 * does not exist; so the comparison is with an application whose other queue uses none.
 */
export async function tableOfUnusedFeatures(settings: UnusedSettings): Promise<string> {
  const without = await countExact(NO_FEATURE, settings);
  const rows: string[][] = [];
  for (const feature of FEATURES) {
    const exact = await countExact(feature, settings);
    const cpu: string[] = [];
    for (const workload of MEASURED) cpu.push(formatInterval(await compareWithNone(feature, workload, settings)));
    const bytes = exact.allocated.map((count, i) => formatDifference(count / without.allocated[i]! - 1));
    const { instructions: counted } = exact;
    const redis = counted === undefined ? '–' : formatDifference(counted / without.instructions! - 1);
    rows.push([feature, ...cpu, ...bytes, redis]);
    settings.onProgress(rows.at(-1)!.join(' · '));
  }
  const titlesOf = (what: string) => MEASURED.map(({ title }) => `${what}: ${title}`);
  return layOut(['feature', ...titlesOf('CPU'), ...titlesOf('bytes'), `Redis: ${BACKLOG.title}`], rows);
}

async function countExact(feature: Feature, { library, onProgress }: UnusedSettings): Promise<Exact> {
  onProgress(`unused · ${feature} · counts`);
  const system = systemOf(besideOf(feature));
  const allocated: number[] = [];
  for (const workload of MEASURED) allocated.push(await countAllocated(system, library, workload));
  const binary = countableBinary();
  const settings = binary && { system: system.name, library, binary, onProgress };
  return { allocated, instructions: settings && (await countWorkload(settings, BACKLOG)) };
}

function countableBinary() {
  try {
    return findCountable().binary;
  } catch {
    return undefined;
  }
}

function compareWithNone(feature: Feature, workload: Workload, { library, limit, onProgress }: UnusedSettings) {
  onProgress(`unused · ${feature} · CPU of ${workload.title}`);
  const systems = [systemOf(besideOf(feature)), systemOf(besideOf(NO_FEATURE))] as const;
  const isEnough = ({ low, median, high }: Interval) => (high - low) / 2 / median <= NARROW;
  return compareCpu({ systems, libraries: [library, library] }, workload, { isEnough, limit });
}

function formatInterval({ low, median, high }: Interval): string {
  return `${formatDifference(median - 1)} (${formatDifference(low - 1)} to ${formatDifference(high - 1)})`;
}
