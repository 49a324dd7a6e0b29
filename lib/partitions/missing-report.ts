import type { OnceAMinute } from '../events/once-a-minute.js';

/** How far a read has come. */
export interface Reached {
  /** The partitions that have not answered. */
  readonly missing: readonly number[];
  /** True if it has asked all of them: only then does it know that those not missing answer. */
  readonly hasAskedAll: boolean;
}

/** Reports which partitions do not answer: when others do than before, and once a minute while they stay the same. */
export class MissingReport {
  #reported: readonly number[] = [];

  constructor(
    private readonly limit: OnceAMinute,
    private readonly report: (missing: readonly number[]) => void,
  ) {}

  /** Takes note of the partitions that a read could not reach, if any. */
  note({ missing, hasAskedAll }: Reached): void {
    const before = this.#reported;
    this.#reported = hasAskedAll ? missing : [...new Set([...before, ...missing])].sort((one, other) => one - other);
    const isNews = this.#reported.join(' ') !== before.join(' ');
    if (missing.length === 0 || (!isNews && !this.limit.isDue)) return;
    this.limit.reported();
    this.report(this.#reported);
  }
}
