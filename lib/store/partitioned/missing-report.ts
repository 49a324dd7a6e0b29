import type { OnceAMinute } from '../../events/once-a-minute.js';

/** Tells which partitions do not answer: when others do than before, and once a minute while they stay the same. */
export class MissingReport {
  #told = '';

  constructor(
    private readonly limit: OnceAMinute,
    private readonly tell: (missing: readonly number[]) => void,
  ) {}

  /** Takes note of the partitions that a read could not reach, if any. */
  note(missing: readonly number[]): void {
    const text = missing.join(' ');
    if (text === this.#told && (text === '' || !this.limit.isDue)) return;
    this.#told = text;
    if (text === '') return;
    this.limit.reported();
    this.tell(missing);
  }
}
