import type { Stage } from '../measure/stage.js';
import type { System } from '../systems.js';

/** A row of the table. */
export interface Figure {
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly better: 'more' | 'less';
}

/** A measurement that is the same for every system. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly figures: readonly Figure[];
  /** True if a system takes part. Default: all do. */
  readonly suits?: (system: System) => boolean;
  /** The most rounds, where one takes minutes. Default: as many as are asked for. */
  readonly maxRounds?: number;
  /** Left out of quick runs. */
  readonly fullOnly?: boolean;
  /** Measured only if it is named with `--only`. */
  readonly onRequest?: boolean;
  /** True if it needs a cluster of three primaries with a replica each. */
  readonly cluster?: boolean;
  /** True if all systems are measured at once, because they do next to nothing. */
  readonly idle?: boolean;
  /** @returns the values of the figures, except those that the system does not have */
  measure(stage: Stage): Promise<Readonly<Record<string, number | undefined>>>;
}
