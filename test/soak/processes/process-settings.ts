import type { Connection } from '../servers/servers.js';
import type { SoakSettings } from '../soak-settings.js';

/** The settings that a process of a soak receives when it starts. */
export interface ProcessSettings {
  readonly soak: SoakSettings;
  /** Unique in a run, starting with 1. */
  readonly index: number;
  readonly connection: Connection;
  /** The number of partitions of each queue, as far as this process was told. */
  readonly partitions: number;
  readonly prefix: string;
  readonly journal: string;
  /** How wrong the process' clock is, ms. */
  readonly shift: number;
  /** The origin of all times in the journals. */
  readonly epoch: number;
}

export function readProcessSettings(): ProcessSettings {
  return JSON.parse(process.argv[2] ?? '') as ProcessSettings;
}
