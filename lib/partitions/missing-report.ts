import type { OnceAMinute } from '../timing/once-a-minute.js';

/** The progress of a read. */
export interface Reached {
  /** The partitions that have not answered. */
  readonly missing: readonly number[];
  /** True if it has asked all of them: only then does it know that those not missing answer. */
  readonly hasAskedAll: boolean;
}

/** Reports the partitions that do not answer when they change, and otherwise once a minute. */
export class MissingReport {
  #reported: readonly number[] = [];

  constructor(
    private readonly limit: OnceAMinute,
    private readonly report: (missing: readonly number[]) => void,
  ) {}

  /** Notes the partitions that a read could not reach, if any. */
  note({ missing, hasAskedAll }: Reached): void {
    const before = this.#reported;
    this.#reported = hasAskedAll ? missing : [...new Set([...before, ...missing])].sort((one, other) => one - other);
    const isNews = this.#reported.join(' ') !== before.join(' ');
    if (missing.length === 0 || (!isNews && !this.limit.isDue)) return;
    this.limit.reported();
    this.report(this.#reported);
  }
}
