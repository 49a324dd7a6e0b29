import { Inject, Injectable } from '@nestjs/common';
import { Events } from '../events/events.js';
import { hasCode } from '../message/failure.js';
import type { ResolvedQueueOptions } from '../options/queue-options-schema.js';
import type { GroupRules } from '../store/message-store.js';
import type { Stores } from './create-stores.js';
import { STORES } from './delay-queue-tokens.js';
import type { Queue } from './queues.js';
import { Reported } from './recently-used.js';

/**
 * Reports, once per queue, differences in options that must be the same in all processes:
 *
 * - a queue has messages with groups, but this process handles it without the `groups` option, so it never reads the keys that hold them;
 * - another process handles the groups of a queue differently.
 */
@Injectable()
export class GroupsCheck {
  readonly #reported = new Reported();

  constructor(
    @Inject(STORES) private readonly stores: Pick<Stores, 'hasGroups' | 'announceGroups'>,
    private readonly events: Events,
  ) {}

  /** Compares the option with that of other processes while the stores are open. */
  compare(queue: string, { groups: own }: Pick<ResolvedQueueOptions, 'groups'>): void {
    if (!own) return;
    this.stores.announceGroups(queue, own, (other) => {
      if (this.#reported.add(`${queue} ${show(other)}`))
        this.events.note('groups-differ', { queue, own: show(own), other: show(other) });
    });
  }

  /** Returns a function that looks for messages that this process ignores; undefined: there can be none. */
  lookerAt(queue: Pick<Queue, 'name' | 'options'>): (() => void) | undefined {
    if (!mayIgnore(queue)) return undefined;
    return () => {
      if (!this.#reported.has(queue.name)) void this.ignoresGroups(queue).catch(() => undefined);
    };
  }

  /** Returns true, and reports it, if this process ignores messages with groups. Throws what Redis throws; without permission, false. */
  async ignoresGroups(queue: Pick<Queue, 'name' | 'options'>): Promise<boolean> {
    const { name } = queue;
    if (!mayIgnore(queue) || !(await this.#hasGroups(name))) return false;
    if (this.#reported.add(name)) this.events.emit('groups-ignored', { queue: name });
    return true;
  }

  async #hasGroups(queue: string): Promise<boolean> {
    try {
      return await this.stores.hasGroups(queue);
    } catch (error) {
      if (hasCode(error, 'STORE_REFUSED')) return false;
      throw error;
    }
  }
}

function mayIgnore({ options }: Pick<Queue, 'options'>): boolean {
  return !options.groups && options.layout.can.groups;
}

function show({ concurrency, onRetry }: GroupRules): string {
  return `{ concurrency: ${concurrency ?? "'unlimited'"}, onRetry: '${onRetry}' }`;
}
