import { Inject, Injectable } from '@nestjs/common';
import { Events } from '../events/events.js';
import { HandlerRegistry } from '../handler/handler-registry.js';
import { familyOf, isFamily } from '../message/queue-family.js';
import type { Stores } from './create-stores.js';
import { STORES } from './delay-queue-tokens.js';

/** How many queues are remembered as told of; one that is forgotten may be told of again. */
const MOST_TOLD = 10_000;

/** Tells, once for each queue, of offers to queues that no process has ever handled: mostly the name is misspelt. */
@Injectable()
export class UnhandledQueues {
  /** Queues and families that some process has handled, as far as this process knows. */
  #handled: ReadonlySet<string> = new Set();
  #families: readonly string[] = [];
  readonly #told = new Set<string>();
  /** The queues that the next look at the directory is about. */
  #doubtful = new Set<string>();
  #looking = false;

  constructor(
    @Inject(STORES) private readonly stores: Pick<Stores, 'directory'>,
    private readonly handlers: HandlerRegistry,
    private readonly events: Events,
  ) {}

  /** Called when a queue was registered because messages are offered to it. */
  offered(queue: string): void {
    if (this.#told.has(queue) || this.#isHandled(queue)) return;
    this.#doubtful.add(queue);
    if (!this.#looking) void this.#look();
  }

  /** Handlers of this process count before they have started: it offers while it starts. */
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
        for (const queue of queues) if (!this.#isHandled(queue)) this.#tell(queue);
      }
    } catch {
      // The next registration of such a queue asks again.
    } finally {
      this.#looking = false;
    }
  }

  #tell(queue: string): void {
    if (this.#told.size >= MOST_TOLD) this.#told.clear();
    this.#told.add(queue);
    this.events.emit('unhandled', { queue });
  }
}
