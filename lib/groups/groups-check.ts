import { AlreadyReported } from '../events/already-reported.js';
import type { Events } from '../events/events.js';
import { hasCode } from '../message/failure.js';
import type { Layout } from '../store/layout.js';
import type { GroupRules } from '../store/message-store.js';
import type { OtherProcesses } from './other-processes.js';

interface CheckedQueue {
  readonly name: string;
  readonly options: {
    /** Null if this process handles the queue without groups. */
    readonly groups: GroupRules | null;
    readonly layout: Pick<Layout, 'can'>;
  };
}

/**
 * Reports, once per queue, differences in options that must be the same in all processes:
 *
 * - a queue has messages with groups, but this process handles it without the `groups` option, so it never reads the keys that hold them;
 * - another process handles the groups of a queue differently.
 */
export class GroupsCheck {
  readonly #reported = new AlreadyReported();

  constructor(
    private readonly others: Pick<OtherProcesses, 'haveGroups' | 'announce'>,
    private readonly events: Events,
  ) {}

  /** Compares the `groups` option with that of other processes until the stores are closed. */
  compare(queue: string, { groups: own }: Pick<CheckedQueue['options'], 'groups'>): void {
    if (!own) return;
    this.others.announce(queue, own, (other) => {
      if (this.#reported.add(`${queue} ${show(other)}`))
        this.events.note('groups-differ', { queue, own: show(own), other: show(other) });
    });
  }

  /** Returns a function that looks for messages that this process ignores; undefined if there can be none. */
  lookerAt(queue: CheckedQueue): (() => void) | undefined {
    if (!mayIgnore(queue)) return undefined;
    return () => {
      if (!this.#reported.has(queue.name)) void this.ignoresGroups(queue).catch(() => undefined);
    };
  }

  /** True if this process ignores messages with groups, which it then reports. False if it may not look. Throws whatever Redis throws. */
  async ignoresGroups(queue: CheckedQueue): Promise<boolean> {
    const { name } = queue;
    if (!mayIgnore(queue) || !(await this.#hasGroups(name))) return false;
    if (this.#reported.add(name)) this.events.emit('groups-ignored', { queue: name });
    return true;
  }

  async #hasGroups(queue: string): Promise<boolean> {
    try {
      return await this.others.haveGroups(queue);
    } catch (error) {
      if (hasCode(error, 'STORE_REFUSED')) return false;
      throw error;
    }
  }
}

function mayIgnore({ options }: CheckedQueue): boolean {
  return !options.groups && options.layout.can.groups;
}

function show({ concurrency, onRetry, rate }: GroupRules): string {
  const shownRate = rate ? `, rate: { max: ${rate.max}, per: ${rate.per} }` : '';
  return `{ concurrency: ${concurrency ?? "'unlimited'"}, onRetry: '${onRetry}'${shownRate} }`;
}
