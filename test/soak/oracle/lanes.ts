import { type FaultWindow, overlap } from '../nemesis/fault-window.js';
import { FindingList } from './finding-list.js';
import type { LaneRules } from './lane-rules.js';
import type { MessageStory } from './message-story.js';
import { findCrowded } from './rules/crowded.js';
import { findOvertaken } from './rules/overtaken.js';
import { type Turn, turnsOf } from './turn.js';
import type { GroupCounts } from './verdict.js';

/** Brings together the turns of each group, and judges them when all messages have been heard. */
export class Lanes {
  readonly crowded = new FindingList();
  readonly overtaken = new FindingList();
  readonly #turns = new Map<string, Turn[]>();
  readonly #disorders: readonly FaultWindow[];
  readonly #crowds: readonly FaultWindow[];

  /** @param recovery - for how long after its end a fault is still blamed, ms */
  constructor(
    private readonly rules: LaneRules | undefined,
    windows: readonly FaultWindow[],
    recovery: number,
  ) {
    this.#disorders = windows.filter(({ disorders }) => disorders);
    this.#crowds = windows.filter(({ crowds }) => crowds).map((window) => ({ ...window, to: window.to + recovery }));
  }

  /** @param lastSignOf - when a process is last known to have been alive */
  hear(story: MessageStory, lastSignOf: (process: number) => number): void {
    const lane = this.rules?.laneOf(story.n) ?? null;
    if (lane === null) return;
    const turns = turnsOf(story, lastSignOf).map((turn) => this.#withoutExcuse(turn));
    const others = this.#turns.get(lane);
    if (others) others.push(...turns);
    else this.#turns.set(lane, turns);
  }

  judge(): GroupCounts {
    const counts = { lanes: this.#turns.size, turns: 0, ordered: 0 };
    for (const [lane, turns] of this.#turns) {
      const { concurrency, isOneOfMany } = this.rules!;
      turns.sort((a, b) => a.from - b.from || a.to - b.to);
      counts.turns += turns.length;
      for (const { n, what } of findCrowded(turns, concurrency)) this.crowded.add(n, `${what} of ${lane}`);
      if (concurrency > 1) continue;
      counts.ordered += turns.filter(({ setting }) => setting).length;
      for (const { n, what } of findOvertaken(turns, isOneOfMany)) this.overtaken.add(n, `${what}, in ${lane}`);
    }
    return counts;
  }

  /** What was repaired may have joined the line later than it fell due, and a group may have had too many slots until then. */
  #withoutExcuse(turn: Turn): Turn {
    const { from, setting, mayBeLate } = turn;
    const wait = setting && { from: setting.invokedAt, to: from };
    const isDisordered = wait && this.#disorders.some((window) => overlap(window, wait));
    const isCrowded = this.#crowds.some((window) => overlap(window, { from, to: from }));
    return { ...turn, setting: isDisordered ? undefined : setting, mayBeLate: mayBeLate || isCrowded };
  }
}
