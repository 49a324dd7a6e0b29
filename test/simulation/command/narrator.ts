import { Journal } from '../oracle/journal.js';
import type { World } from '../world/world.js';

interface Line {
  /** Which line of the run it is. */
  readonly number: number;
  /** ms of the world. */
  readonly at: number;
  readonly text: string;
}

/** How many lines of each kind a story has at most. */
const LINES = 60;

/** How long before the first line about a message its story begins, ms. */
const BEFORE = 5000;

/** How long after the last line about it its story ends, ms. */
const AFTER = 100;

/** The number of lines kept in memory until it is known which of them matter. */
const KEPT = 4000;

/**
 * A journal for people: of everything, line by line, or the story of one message or process, with the calls that did it and the
 * faults around it. It needs little memory however long the run is.
 */
export class Narrator extends Journal {
  #number = 0;
  readonly #mentions: RegExp | undefined;
  /** What mentions the message or process. */
  readonly #own: Line[] = [];
  /** Faults, the calls that they strike, and what the library reports. */
  readonly #around = new LastLines(KEPT);
  readonly #calls = new LastLines(KEPT);
  /** The call that takes effect in the current event, and the number of that event. */
  #call: { readonly line: Line; readonly event: number } | undefined;
  /** The queue of the message. */
  #queue: string | undefined;

  constructor(
    private readonly home: World,
    /** Undefined: everything. */
    private readonly about: string | undefined,
    private readonly print: (text: string) => void,
  ) {
    super(home);
    this.#mentions = about === undefined ? undefined : new RegExp(`\\b${about}\\b`);
  }

  override readonly write = (text: string): void => {
    const { now, current, events } = this.home;
    const line = { number: this.#number++, at: now, text: formatted(now, current?.name, text) };
    if (!this.#mentions) return this.print(`${line.text}\n`);
    const call = / of (\S+)$/.exec(text);
    const isCall = call !== null && text.startsWith('p');
    if (isCall) this.#call = { line, event: events };
    if (this.#mentions.test(text)) return this.#keep(line, text);
    if (isCall) {
      if (this.#queue === undefined || call[1] === this.#queue) this.#calls.add(line);
    } else if (!/^m\d+ /.test(text)) this.#around.add(line);
  };

  /** Prints the story. */
  end(): void {
    if (!this.#mentions) return;
    const own = this.#own;
    if (own.length === 0) return this.print(`Nothing has happened to ${this.about}.\n`);
    const [from, until] = [own[0]!.at - BEFORE, own.at(-1)!.at + AFTER];
    const isNear = ({ at }: Line) => at >= from && at <= until;
    const parts = [
      shortened(own),
      this.#around.all.filter(isNear).slice(-LINES),
      this.#calls.all.filter(isNear).slice(-LINES / 3),
    ];
    const lines = new Map(parts.flat().map((line) => [line.number, line]));
    const inOrder = [...lines.values()].sort((one, other) => one.number - other.number);
    this.print(inOrder.map(({ text }) => `${text}\n`).join(''));
  }

  #keep(line: Line, text: string): void {
    this.#queue ??= / offered to (\S+):/.exec(text)?.[1];
    const cause = this.#call?.event === this.home.events ? this.#call.line : undefined;
    if (cause) this.#own.push(cause);
    this.#call = undefined;
    this.#own.push(line);
    // The oldest lines show how it began, the latest how it ended.
    if (this.#own.length > KEPT) this.#own.splice(LINES, KEPT / 2);
  }
}

const formatted = (now: number, process: string | undefined, text: string) =>
  `${(now / 1000).toFixed(6).padStart(12)} s ${(process ?? '').padEnd(4)} ${text}`;

function shortened(lines: readonly Line[]): readonly Line[] {
  if (lines.length <= LINES) return lines;
  const [first, last] = [lines.slice(0, LINES / 4), lines.slice((-3 * LINES) / 4)];
  const left = lines.length - LINES;
  return [...first, { number: first.at(-1)!.number + 0.5, at: first.at(-1)!.at, text: `… ${left} lines …` }, ...last];
}

/** The latest of many lines. */
class LastLines {
  #lines: Line[] = [];

  constructor(private readonly count: number) {}

  add(line: Line): void {
    this.#lines.push(line);
    if (this.#lines.length >= 2 * this.count) this.#lines = this.#lines.slice(-this.count);
  }

  get all(): readonly Line[] {
    return this.#lines;
  }
}
