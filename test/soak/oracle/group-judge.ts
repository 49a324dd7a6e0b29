import { type FaultWindow, overlap } from '../nemesis/fault-window.js';
import { FindingList } from './finding-list.js';
import type { GroupRules } from './group-rules.js';
import type { MessageStory } from './message-story.js';
import { findCrowded } from './rules/crowded.js';
import { findOvertaken } from './rules/overtaken.js';
import { type PermitUse, permitUsesOf } from './permit-use.js';
import type { GroupCounts } from './verdict.js';

/** Collects the permit uses of each group and judges them once all messages have been heard. */
export class GroupJudge {
  readonly crowded = new FindingList();
  readonly overtaken = new FindingList();
  readonly #uses = new Map<string, PermitUse[]>();
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
    const uses = permitUsesOf(story, lastSignOf).map((use) => this.#withoutExcuse(use));
    const others = this.#uses.get(group);
    if (others) others.push(...uses);
    else this.#uses.set(group, uses);
  }

  judge(): GroupCounts {
    const counts = { groups: this.#uses.size, permitUses: 0, ordered: 0 };
    for (const [group, uses] of this.#uses) {
      const { concurrency, isOneOfMany } = this.rules!;
      uses.sort((a, b) => a.from - b.from || a.to - b.to);
      counts.permitUses += uses.length;
      for (const { n, what } of findCrowded(uses, concurrency)) this.crowded.add(n, `${what} of ${group}`);
      if (concurrency > 1) continue;
      counts.ordered += uses.filter(({ setting }) => setting).length;
      for (const { n, what } of findOvertaken(uses, isOneOfMany)) this.overtaken.add(n, `${what}, in ${group}`);
    }
    return counts;
  }

  /** Excuses uses after a repair: a message may have joined the backlog late, and a group may have had too many permits until then. */
  #withoutExcuse(use: PermitUse): PermitUse {
    const { from, setting, mayBeLate } = use;
    const wait = setting && { from: setting.invokedAt, to: from };
    const isDisordered = wait && this.#disorders.some((window) => overlap(window, wait));
    const isCrowded = this.#crowds.some((window) => overlap(window, { from, to: from }));
    return { ...use, setting: isDisordered ? undefined : setting, mayBeLate: mayBeLate || isCrowded };
  }
}
