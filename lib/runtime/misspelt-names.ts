import { Inject, Injectable } from '@nestjs/common';
import { Events } from '../events/events.js';
import { HandlerRegistry } from '../handler/handler-registry.js';
import { nearestNames } from '../message/nearest-name.js';
import { familyOf, isFamily } from '../message/queue-name.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import type { Clock } from '../timing/clock.js';
import { inSlices } from '../timing/event-loop.js';
import type { Stores } from './create-stores.js';
import { RESOLVED_OPTIONS, STORES } from './delay-queue-tokens.js';
import { AlreadyReported } from '../events/already-reported.js';
import { isLayout } from '../store/layout.js';

/**
 * Reports names that are probably misspelt, each once:
 *
 * - queues that get offers but have never been handled by any process, unless processes without this package may handle them;
 * - entries in `queues` whose name is close to that of a queue that this process uses but that has no entry. Other entries may be for
 *   another process that shares the configuration.
 */
@Injectable()
export class MisspeltNames {
  /** Queues and families known to have been handled by some process. */
  #handled: ReadonlySet<string> = new Set();
  #families: readonly string[] = [];
  readonly #reported = new AlreadyReported();
  /** Queues to look up in the directory next. */
  #doubtful = new Set<string>();
  #looking = false;
  /** Entries in `queues` that no queue of this process has matched so far. */
  readonly #unmatched = new Set<string>();

  constructor(
    @Inject(STORES) private readonly stores: Pick<Stores, 'directory'>,
    @Inject(RESOLVED_OPTIONS) private readonly options: Pick<ResolvedModuleOptions, 'queues' | 'defaults'>,
    private readonly handlers: HandlerRegistry,
    private readonly events: Events,
  ) {}

  /** Compares the entries in `queues` with the queues that this process handles. */
  async compareHandled(clock: Pick<Clock, 'monotonic'>): Promise<void> {
    const names = this.handlers.all().map(({ name }) => name);
    const hasNoEntry = names.filter((name) => !this.#hasEntry(name));
    await inSlices(Object.keys(this.options.queues), clock, (entry) => {
      if (this.handlers.find(entry) ?? this.handlers.familyOf(entry)) return;
      this.#unmatched.add(entry);
      const [nearest] = nearestNames(entry, hasNoEntry);
      if (nearest !== undefined) this.#reportEntry(entry, nearest);
    });
  }

  /** Called when an offer makes this process register a queue, not for each offer. */
  offered(queue: string): void {
    this.#checkHandled(queue);
    this.#checkEntries(queue);
  }

  #checkHandled(queue: string): void {
    if (this.#mayHaveOtherConsumers(queue) || this.#reported.has(queue) || this.#isHandled(queue)) return;
    this.#doubtful.add(queue);
    if (!this.#looking) void this.#look();
  }

  #checkEntries(queue: string): void {
    if (this.#unmatched.delete(queue) || this.#unmatched.size === 0) return;
    if (this.#hasEntry(queue) || this.handlers.servedBy(queue)) return;
    const [entry] = nearestNames(queue, this.#unmatched);
    if (entry !== undefined) this.#reportEntry(entry, queue);
  }

  /** True if some process is known to handle the queue. This process counts before its handlers start, because it may offer earlier. */
  #isHandled(queue: string): boolean {
    return (
      this.handlers.servedBy(queue) !== undefined ||
      this.#handled.has(queue) ||
      familyOf(queue, this.#families) !== undefined
    );
  }

  async #look(): Promise<void> {
    this.#looking = true;
    try {
      while (this.#doubtful.size > 0) {
        const queues = this.#doubtful;
        this.#doubtful = new Set();
        const handled = await this.stores.directory.handled();
        this.#handled = new Set(handled);
        this.#families = handled.filter(isFamily);
        for (const queue of queues) {
          if (!this.#isHandled(queue) && this.#reported.add(queue)) this.events.emit('unhandled', { queue });
        }
      }
    } catch {
      // If the look-up fails, the name is checked again when the queue is next registered.
    } finally {
      this.#looking = false;
    }
  }

  #mayHaveOtherConsumers(queue: string): boolean {
    const { queues, defaults } = this.options;
    const layout = (this.#hasEntry(queue) ? queues[queue]!.layout : undefined) ?? defaults.layout;
    return isLayout(layout) && layout.can.otherConsumers;
  }

  #hasEntry(name: string): boolean {
    return Object.hasOwn(this.options.queues, name);
  }

  #reportEntry(entry: string, nearest: string): void {
    this.#unmatched.delete(entry);
    this.events.note('options-unmatched', { queue: entry, nearest });
  }
}
