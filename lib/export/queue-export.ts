import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { MessageCounts } from '../message/message.js';
import type { Queue } from '../runtime/queues.js';
import type { Instance } from '../runtime/instance.js';
import type { GroupBacklog, QueueStatus } from '../store/admin-store.js';
import type { MessageStore } from '../store/message-store.js';
import { assertExportable } from './exportable.js';
import { ExportDigest } from './export-digest.js';
import {
  type ExportLine,
  FORMAT_VERSION,
  type GroupLine,
  lineOf,
  lineOfHandled,
  lineOfKept,
  type SettingsLine,
} from './export-line.js';

/** Reads a queue, and changes nothing. Each step is short for Redis. */
export class QueueExport {
  readonly #digest = new ExportDigest();
  #messages = 0;

  constructor(
    private readonly instance: Instance,
    private readonly queue: Queue,
  ) {}

  async *lines(): AsyncGenerator<ExportLine> {
    const { queue, instance } = this;
    await assertExportable(queue, instance.stores.groupsCheck);
    const before = await this.#status();
    const { name, options } = queue;
    const place = { queue: name, layout: options.layout.name, prefix: instance.options.prefix };
    yield { kind: 'export', version: FORMAT_VERSION, ...place, at: before.now };
    for await (const line of this.#content(before)) {
      this.#digest.add(line);
      yield line;
    }
    const inUse = !this.#isQuiet(before, await this.#status());
    yield { kind: 'end', messages: this.#messages, digest: String(this.#digest), inUse };
  }

  async *#content({ paused }: QueueStatus): AsyncGenerator<ExportLine> {
    yield await this.#settings(paused);
    yield* await this.#groups();
    for (const id of await this.#declared()) yield { kind: 'declared', id };
    yield* this.#ofAll((store) => this.#messagesOf(store));
    // Afterwards, so that a message which is handled meanwhile is in the one place or the other.
    yield* this.#ofAll((store) => this.#historyOf(store));
    yield* this.#ofAll((store) => this.#keptIdsOf(store));
  }

  async #settings(paused: boolean): Promise<SettingsLine> {
    const limits = await this.instance.stores.limits.read(this.queue.name);
    return { kind: 'settings', paused, ...(limits && { limits }) };
  }

  /** Reads the groups that have settings of their own. */
  async #groups(): Promise<GroupLine[]> {
    const { groups } = this.queue.router;
    const found = new Map<string, GroupBacklog>();
    for (let cursor: string | null | undefined = groups ? undefined : null; cursor !== null;) {
      const part = await groups!.listGroups!(cursor);
      for (const each of part.groups) if (each.paused || each.concurrency !== undefined) found.set(each.group, each);
      ({ cursor } = part);
    }
    return [...found.values()].map(({ group, paused, concurrency }) => ({ kind: 'group', group, paused, concurrency }));
  }

  async #declared(): Promise<readonly string[]> {
    const { router, name } = this.queue;
    const partitions = router.stores.length - (router.groups ? 1 : 0);
    return (await this.instance.stores.repeatMarks?.list(name, partitions)) ?? [];
  }

  /** Reads all stores, also those that this process learns of meanwhile. */
  async *#ofAll(read: (store: MessageStore) => AsyncGenerator<ExportLine>): AsyncGenerator<ExportLine> {
    const done = new Set<MessageStore>();
    for (;;) {
      const stores = await this.queue.router.withAll((parts) => Promise.resolve(parts.map(({ store }) => store)));
      const store = stores.find((each) => !done.has(each));
      if (!store) return;
      done.add(store);
      yield* read(store);
    }
  }

  async *#messagesOf(store: MessageStore): AsyncGenerator<ExportLine> {
    for await (const { messages } of pagesOf((cursor) => store.scan!(cursor))) {
      this.#messages += messages.length;
      for (const message of messages) yield lineOf(message);
    }
  }

  async *#historyOf(store: MessageStore): AsyncGenerator<ExportLine> {
    for await (const { found } of pagesOf((cursor) => store.scanHistory!(cursor))) {
      for (const entry of found) yield lineOfHandled(entry);
    }
  }

  async *#keptIdsOf(store: MessageStore): AsyncGenerator<ExportLine> {
    for await (const { found } of pagesOf((cursor) => store.scanKeptIds!(cursor))) {
      for (const kept of found) yield lineOfKept(kept, store === this.queue.router.groups);
    }
  }

  /** @throws DelayQueueError `NOT_CONNECTED` if a partition does not answer, because an export must be complete */
  async #status(): Promise<QueueStatus> {
    const status = await this.queue.store.status();
    if (!status.missing) return status;
    const partitions = status.missing.join(', ');
    throw new DelayQueueError(
      'NOT_CONNECTED',
      `Partitions of queue '${this.queue.name}' do not answer (${partitions}), so an export would be incomplete: try again later`,
    );
  }

  /** True if the export shows the queue as it was at one instant: nothing was handled, offered or removed. Transfers change nothing. */
  #isQuiet(before: QueueStatus, after: QueueStatus): boolean {
    const [first, last] = [totalOf(before.counts), totalOf(after.counts)];
    const active = before.counts.active + after.counts.active;
    return before.paused && after.paused && active === 0 && first === last && first === this.#messages;
  }
}

function totalOf({ delayed, ready, active, dead }: MessageCounts): number {
  return delayed + ready + active + dead;
}

/** Reads page after page, each from where the one before has ended. */
async function* pagesOf<Page extends { readonly cursor: string | null }>(
  read: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await read(cursor);
    yield page;
    ({ cursor } = page);
  }
}
