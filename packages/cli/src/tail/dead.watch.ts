import type { DeadLetter, DelayQueueProducer } from 'nestjs-delay-queue';
import type { InspectedQueue } from 'nestjs-delay-queue/diagnosis';

/** Maximum number of dead letters that one call reads. */
const PAGE = 100;

/** Finds the new dead letters of a queue, oldest first. While there are none, a look reads one letter. */
export class DeadWatch {
  #newest: DeadLetter | undefined;
  #isFirst = true;

  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly queue: string,
  ) {}

  async look({ counts }: InspectedQueue): Promise<DeadLetter[]> {
    const isFirst = this.#isFirst;
    const [newest] = counts.dead === 0 ? [] : await this.#read(counts.dead - 1, 1);
    this.#isFirst = false;
    if (!newest || !isAfter(newest, this.#newest)) return [];
    const letters = isFirst ? [] : await this.#newLetters(counts.dead);
    this.#newest = letters.at(-1) ?? newest;
    return letters;
  }

  /** Reads backwards, to the newest one known. */
  async #newLetters(end: number): Promise<DeadLetter[]> {
    const found: DeadLetter[] = [];
    for (let to = end; to > 0; to -= PAGE) {
      const from = Math.max(0, to - PAGE);
      const page = await this.#read(from, to - from);
      const fresh = page.filter((letter) => isAfter(letter, this.#newest));
      found.unshift(...fresh);
      if (fresh.length < page.length) break;
    }
    return found;
  }

  async #read(offset: number, limit: number): Promise<readonly DeadLetter[]> {
    return (await this.producer.list(this.queue, 'dead', { offset, limit })).messages;
  }
}

/** Dead letters are ordered by time of death, and within a millisecond by id. */
function isAfter(letter: DeadLetter, other: DeadLetter | undefined): boolean {
  if (!other) return true;
  const difference = letter.diedAt.getTime() - other.diedAt.getTime();
  return difference > 0 || (difference === 0 && Buffer.compare(Buffer.from(letter.id), Buffer.from(other.id)) > 0);
}
