import { type FaultWindow, overlap } from '../nemesis/fault-window.js';
import { FindingList } from './finding-list.js';
import type { GroupRules } from './group-rules.js';
import type { MessageStory } from './message-story.js';
import { findCrowded } from './rules/crowded.js';
import { findOvertaken } from './rules/overtaken.js';
import { type Turn, turnsOf } from './turn.js';
import type { GroupCounts } from './verdict.js';

/** Collects the turns of each group and judges them once all messages have been heard. */
export class GroupJudge {
  readonly crowded = new FindingList();
  readonly overtaken = new FindingList();
  readonly #turns = new Map<string, Turn[]>();
  readonly #disorders: readonly FaultWindow[];
  readonly #crowds: readonly FaultWindow[];

  /** @param recovery - for how long after its end a fault is still blamed, ms */
  constructor(
    private readonly rules: GroupRules | undefined,
    windows: readonly FaultWindow[],
    recovery: number,
  ) {
    this.#disorders = windows.filter(({ disorders }) => disorders);
    this.#crowds = windows.filter(({ crowds }) => crowds).map((window) => ({ ...window, to: window.to + recovery }));
  }

  /** @param lastSignOf - when a process is last known to have been alive */
  hear(story: MessageStory, lastSignOf: (process: number) => number): void {
    const group = this.rules?.groupOf(story.n) ?? null;
    if (group === null) return;
    const turns = turnsOf(story, lastSignOf).map((turn) => this.#withoutExcuse(turn));
    const others = this.#turns.get(group);
    if (others) others.push(...turns);
    else this.#turns.set(group, turns);
  }

  judge(): GroupCounts {
    const counts = { groups: this.#turns.size, turns: 0, ordered: 0 };
    for (const [group, turns] of this.#turns) {
      const { concurrency, isOneOfMany } = this.rules!;
      turns.sort((a, b) => a.from - b.from || a.to - b.to);
      counts.turns += turns.length;
      for (const { n, what } of findCrowded(turns, concurrency)) this.crowded.add(n, `${what} of ${group}`);
      if (concurrency > 1) continue;
      counts.ordered += turns.filter(({ setting }) => setting).length;
      for (const { n, what } of findOvertaken(turns, isOneOfMany)) this.overtaken.add(n, `${what}, in ${group}`);
    }
    return counts;
  }

  /** Excuses turns after a repair: a message may have joined the backlog late, and a group may have had too many permits until then. */
  #withoutExcuse(turn: Turn): Turn {
    const { from, setting, mayBeLate } = turn;
    const wait = setting && { from: setting.invokedAt, to: from };
    const isDisordered = wait && this.#disorders.some((window) => overlap(window, wait));
    const isCrowded = this.#crowds.some((window) => overlap(window, { from, to: from }));
    return { ...turn, setting: isDisordered ? undefined : setting, mayBeLate: mayBeLate || isCrowded };
  }
}
