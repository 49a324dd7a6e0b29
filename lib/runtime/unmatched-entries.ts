import { Inject, Injectable } from '@nestjs/common';
import { Events } from '../events/events.js';
import { HandlerRegistry } from '../handler/handler-registry.js';
import { nearestNames } from '../message/nearest-name.js';
import { type ResolvedModuleOptions } from '../options/module-options-schema.js';
import type { Clock } from '../timing/clock.js';
import { inSlices } from '../timing/slices.js';
import { RESOLVED_OPTIONS } from './delay-queue-tokens.js';

/**
 * Tells, once for each, of entries in `queues` whose name is near that of a queue without an entry which this process handles or
 * offers to: mostly the name is misspelt. An entry that is near nothing may be for another process that shares the configuration.
 */
@Injectable()
export class UnmatchedEntries {
  /** The entries that no queue of this process has matched so far. */
  readonly #waiting = new Set<string>();

  constructor(
    @Inject(RESOLVED_OPTIONS) private readonly options: Pick<ResolvedModuleOptions, 'queues'>,
    private readonly handlers: HandlerRegistry,
    private readonly events: Events,
  ) {}

  /** Compares the entries with the queues that are handled. */
  async compareHandled(clock: Pick<Clock, 'monotonic'>): Promise<void> {
    const names = this.handlers.all().map(({ name }) => name);
    const hasNoEntry = names.filter((name) => !this.#hasEntry(name));
    await inSlices(Object.keys(this.options.queues), clock, (entry) => {
      if (this.handlers.find(entry) ?? this.handlers.familyOf(entry)) return;
      this.#waiting.add(entry);
      const [nearest] = nearestNames(entry, hasNoEntry);
      if (nearest !== undefined) this.#tell(entry, nearest);
    });
  }

  /** Called when messages are offered to a queue, not for each of them. */
  offered(queue: string): void {
    if (this.#waiting.delete(queue) || this.#waiting.size === 0) return;
    if (this.#hasEntry(queue) || this.handlers.servedBy(queue)) return;
    const [entry] = nearestNames(queue, this.#waiting);
    if (entry !== undefined) this.#tell(entry, queue);
  }

  #hasEntry(name: string): boolean {
    return Object.hasOwn(this.options.queues, name);
  }

  #tell(queue: string, nearest: string): void {
    this.#waiting.delete(queue);
    this.events.note('options-unmatched', { queue, nearest });
  }
}
