import type { SoakSettings } from '../soak-settings.js';

/** What a process of a soak is told when it starts. */
export interface ProcessSettings {
  readonly soak: SoakSettings;
  /** Unique in a run, from 1. */
  readonly index: number;
  readonly redisUrl: string;
  readonly prefix: string;
  readonly journal: string;
  /** How wrong the clock of the process is, ms. */
  readonly shift: number;
  /** From which the times of a journal count. */
  readonly epoch: number;
}

export function readProcessSettings(): ProcessSettings {
  return JSON.parse(process.argv[2] ?? '') as ProcessSettings;
}
