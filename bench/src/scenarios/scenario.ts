import type { Stage } from '../measure/stage.js';
import type { System } from '../systems.js';

/** A row of the table. */
export interface Figure {
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly better: 'more' | 'less';
}

/** What is measured of every system in the same way. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly figures: readonly Figure[];
  /** Default: all systems take part. */
  readonly suits?: (system: System) => boolean;
  /** Of one that takes minutes. Default: as many as are asked for. */
  readonly mostRounds?: number;
  /** Left out of quick runs. */
  readonly fullOnly?: boolean;
  /** Measured only if it is named with `--only`. */
  readonly onRequest?: boolean;
  /** Whether all systems may be measured at once, because they hardly do anything. */
  readonly idle?: boolean;
  /** @returns the values of the figures; one that the system has no answer to is left out */
  measure(stage: Stage): Promise<Readonly<Record<string, number | undefined>>>;
}
