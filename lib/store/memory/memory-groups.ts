import type { GroupRules } from '../message-store.js';
import type { MemoryMessage } from './message-table.js';

/**
 * Who may be claimed where messages have groups: of each group, at most so many have a slot at once, and groups take turns. A message
 * has its slot from its claim until it is settled; with `hold`, also while it waits for a retry.
 */
export class MemoryGroups {
  /** By group: how many messages have a slot. */
  readonly #taken = new Map<string, number>();
  /** By group: when it had its last turn. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  constructor(readonly rules: GroupRules) {}

  /** The messages that can be claimed, at most so many; `ready`: all that are ready, in the order in which they fell due. */
  choose(ready: readonly MemoryMessage[], most: number): MemoryMessage[] {
    const chosen = ready.filter(({ hasSlot }) => hasSlot);
    const lines = new Map<string, MemoryMessage[]>();
    for (const message of ready) if (!message.hasSlot) push(lines, message);
    const last = (group: string) => this.#turns.get(group) ?? 0;
    const groups = [...lines.keys()].sort((one, other) => last(one) - last(other));
    for (let round = 0; groups.length > 0 && chosen.length < most; round++) {
      for (const group of groups.splice(0)) {
        const line = lines.get(group)!;
        if (round >= line.length || round >= this.#room(group)) continue;
        chosen.push(line[round]!);
        groups.push(group);
      }
    }
    return chosen.slice(0, most);
  }

  /** These messages were claimed. */
  take(messages: readonly MemoryMessage[]): void {
    for (const message of messages) {
      this.#turns.set(message.group, ++this.#turn);
      if (message.hasSlot) continue;
      message.hasSlot = true;
      this.#taken.set(message.group, this.#takenBy(message.group) + 1);
    }
  }

  /** A message gives its slot back, if it has one. */
  leave(message: MemoryMessage): void {
    if (!message.hasSlot) return;
    message.hasSlot = false;
    const taken = this.#takenBy(message.group) - 1;
    if (taken > 0) this.#taken.set(message.group, taken);
    else this.#taken.delete(message.group);
  }

  clear(): void {
    this.#taken.clear();
    this.#turns.clear();
  }

  #room(group: string): number {
    return (this.rules.concurrency ?? Infinity) - this.#takenBy(group);
  }

  #takenBy(group: string): number {
    return this.#taken.get(group) ?? 0;
  }
}

function push(lines: Map<string, MemoryMessage[]>, message: MemoryMessage): void {
  const line = lines.get(message.group);
  if (line) line.push(message);
  else lines.set(message.group, [message]);
}
