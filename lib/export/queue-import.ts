import { DelayQueueError, withMessageId } from '../message/delay-queue-errors.js';
import { assertLimitable } from '../limits/assert-limitable.js';
import { MessageIdGenerator } from '../message/message-id.js';
import { duplicate, QueueWriter } from '../producer/queue-writer.js';
import { assertGroupConcurrency } from '../message/group-concurrency.js';
import { assertGrouped } from '../producer/assert-supported.js';
import type { Instance } from '../runtime/instance.js';
import type { Queue } from '../runtime/queues.js';
import type { RestoreOutcome } from '../store/message-past.js';
import type { MessageStore } from '../store/message-store.js';
import type { Offer, OfferReceipt } from '../store/producer-store.js';
import { WriteFailure, type WriteOutcome } from '../store/router.js';
import type { Clock } from '../timing/clock.js';
import { sleep } from '../timing/pauses.js';
import { ExportDigest } from './export-digest.js';
import {
  type DeclaredLine,
  type EndLine,
  type ExportLine,
  entryOf,
  type GroupLine,
  type HandledLine,
  invalid,
  type KeptLine,
  type MessageLine,
  messageOf,
  readLine,
  type SettingsLine,
} from './export-line.js';
import { assertExportable } from './exportable.js';

/** The checked options of an import. */
export interface ImportRules {
  readonly onDuplicate: 'keep' | 'replace' | 'reject';
  readonly dryRun: boolean;
  /** The maximum number of messages written in a second; undefined: no limit. */
  readonly perSecond: number | undefined;
}

/** What an import has done. */
export interface ImportReport {
  /** Number of messages in the export. */
  readonly messages: number;
  /** Number of messages that were new to the queue. 0 in a dry run, as are the following. */
  readonly created: number;
  /** Number of messages whose ids were in use, and which were left out. */
  readonly kept: number;
  /** Number of messages that have replaced others with their ids. */
  readonly replaced: number;
  /** Number of entries that were new to the queue's history. */
  readonly entries: number;
  /** Number of kept ids that were new to the queue. */
  readonly ids: number;
  /** Number of entries and ids left out because their time was over, or because the queue had as many newer ones as it may have. */
  readonly dropped: number;
  /** The digest of the export. */
  readonly digest: string;
  /** True if the queue was in use when it was exported. */
  readonly inUse: boolean;
}

/** How many lines are checked and then written together, and their maximum length, in characters. */
const BATCH_LINES = 1000;
const BATCH_LENGTH = 4 * 1024 * 1024;

/** The outcomes of offers that are not refused. */
type Written = 'created' | 'kept' | 'replaced';

interface ReadOffer {
  readonly offer: Offer;
  readonly line: number;
}

/** An entry of the history, or an id that is kept. */
interface ReadPast {
  readonly id: string;
  /** What to count it as, if it is new. */
  readonly as: 'entries' | 'ids';
  readonly isGrouped: boolean;
  readonly line: number;
  readonly restore: (store: MessageStore) => Promise<RestoreOutcome>;
}

/**
 * Writes an export into a queue, which may be in use. Messages keep their ids, so an import that was interrupted can be repeated: with
 * `keep`, it finds what is there and continues. Checks the lines of a batch before it writes any of them.
 */
export class QueueImport {
  readonly #digest = new ExportDigest();
  readonly #counts: Record<Written, number> = { created: 0, kept: 0, replaced: 0 };
  readonly #writer: QueueWriter;
  readonly #past = { entries: 0, ids: 0, dropped: 0 };
  #batch: ReadOffer[] = [];
  #pastBatch: ReadPast[] = [];
  #batchLength = 0;
  #messages = 0;
  #line = 0;

  constructor(
    private readonly instance: Instance,
    private readonly queue: Queue,
    private readonly rules: ImportRules,
    private readonly clock: Clock,
  ) {
    const { directory } = instance.stores;
    this.#writer = new QueueWriter(queue, {
      ids: new MessageIdGenerator(),
      // Before each batch: an empty queue may be forgotten meanwhile.
      registrar: { register: (name) => directory.register(name) },
      advice: { onKept: () => undefined },
      callsUnderWay: 0,
    });
  }

  /** @throws DelayQueueError `INVALID_ARGUMENT` for a malformed line or an incomplete export; others as for an offer */
  async run(lines: AsyncIterable<string> | Iterable<string>): Promise<ImportReport> {
    await assertExportable(this.queue, this.instance.stores.groupsCheck);
    // Reveals partitions that this process does not know yet.
    await this.queue.router.withAll(() => Promise.resolve());
    let end: EndLine | undefined;
    for await (const text of lines) {
      const line = readLine(text, ++this.#line);
      if ((this.#line === 1) !== (line.kind === 'export'))
        throw this.#invalid("the first line, and no other, must be that of an export, with the kind 'export'");
      if (end) throw this.#invalid('nothing may follow the last line of the export');
      if (line.kind === 'end') end = line;
      else await this.#take(line, text.length);
    }
    await this.#flush();
    if (!end) throw invalid(`after line ${this.#line}`, 'the export is cut off: its last line is missing');
    this.#assertWhole(end);
    return { messages: this.#messages, ...this.#counts, ...this.#past, digest: end.digest, inUse: end.inUse };
  }

  async #take(line: Exclude<ExportLine, EndLine>, length: number): Promise<void> {
    this.#digest.add(line);
    if (line.kind === 'message') return this.#takeMessage(line, length);
    if (line.kind === 'handled') return this.#takeHandled(line, length);
    if (line.kind === 'kept') return this.#takeKept(line, length);
    if (line.kind === 'group') this.#assert(() => this.#assertGroup(line));
    const limits = line.kind === 'settings' ? line.limits : undefined;
    if (limits) this.#assert(() => assertLimitable(this.queue, limits));
    if (this.rules.dryRun) return;
    if (line.kind === 'settings') await this.#applySettings(line);
    else if (line.kind === 'group') await this.#applyGroup(line);
    else if (line.kind === 'declared') await this.#applyDeclared(line);
  }

  #assertGroup({ group, concurrency }: GroupLine): void {
    assertGrouped(this.queue, `group '${group}'`);
    assertGroupConcurrency(concurrency ?? 'default', this.queue.options.groups!);
  }

  async #takeMessage(line: MessageLine, length: number): Promise<void> {
    const { id, dueAt, body, group, ...past } = messageOf(line, this.#line);
    if (group !== undefined) this.#assert(() => assertGrouped(this.queue, `message '${id}'`));
    const { onDuplicate } = this.rules;
    const offer = { id, due: { at: dueAt }, onDuplicate, body, past, ...(group !== undefined && { group }) };
    this.#batch.push({ offer, line: this.#line });
    this.#messages++;
    return this.#grown(length);
  }

  async #takeHandled(line: HandledLine, length: number): Promise<void> {
    const { id, group } = line;
    if (group !== undefined) this.#assert(() => assertGrouped(this.queue, `the handled message '${id}'`));
    const entry = entryOf(line);
    const restore = (store: MessageStore) => store.restoreHandled!(entry);
    this.#pastBatch.push({ id, as: 'entries', isGrouped: group !== undefined, line: this.#line, restore });
    return this.#grown(length);
  }

  async #takeKept({ id, at: handledAt, until, grouped }: KeptLine, length: number): Promise<void> {
    if (grouped) this.#assert(() => assertGrouped(this.queue, `the kept id '${id}'`));
    const restore = (store: MessageStore) => store.restoreKeptId!({ id, handledAt, until });
    this.#pastBatch.push({ id, as: 'ids', isGrouped: grouped === true, line: this.#line, restore });
    return this.#grown(length);
  }

  async #grown(length: number): Promise<void> {
    this.#batchLength += length;
    const lines = this.#batch.length + this.#pastBatch.length;
    if (lines >= BATCH_LINES || this.#batchLength >= BATCH_LENGTH) await this.#flush();
  }

  /** A queue that was not paused leaves the pause as it is here. */
  async #applySettings({ paused, limits }: SettingsLine): Promise<void> {
    // First, so that nothing is handled before everything is here.
    if (paused) await this.queue.store.pause();
    if (limits) await this.instance.stores.limits.write(this.queue.name, limits);
  }

  async #applyGroup({ group, paused, concurrency }: GroupLine): Promise<void> {
    await this.queue.router.groups!.setGroup!(group, { paused, concurrency: concurrency ?? 'default' });
  }

  async #applyDeclared({ id }: DeclaredLine): Promise<void> {
    const { name, router } = this.queue;
    await this.instance.stores.repeatMarks?.set({ queue: name, id, partitions: router.changes?.partitions ?? 1 });
  }

  async #flush(): Promise<void> {
    const [batch, past] = [this.#batch, this.#pastBatch];
    [this.#batch, this.#pastBatch] = [[], []];
    this.#batchLength = 0;
    if (this.rules.dryRun) return;
    if (batch.length > 0) await this.#writeMessages(batch);
    if (past.length > 0) await this.#restorePast(past);
  }

  async #writeMessages(batch: readonly ReadOffer[]): Promise<void> {
    const startedAt = this.clock.monotonic();
    const outcomes = await this.#writer.writeEach(batch.map(({ offer }) => offer));
    const failures = batch.flatMap((each, i) => this.#failureOf(each, outcomes[i]!) ?? []);
    if (failures.length > 0) throw failures[0] as unknown;
    await this.#slowDown(batch.length, this.clock.monotonic() - startedAt);
  }

  async #restorePast(batch: readonly ReadPast[]): Promise<void> {
    const { router } = this.queue;
    // An id belongs to one partition, so the first store that is asked is the right one.
    const restoreOne = ({ id, isGrouped, restore }: ReadPast) =>
      isGrouped ? restore(router.groups!) : router.lookUp(id, restore);
    const outcomes = await Promise.allSettled(batch.map(restoreOne));
    for (const [i, outcome] of outcomes.entries()) {
      const { id, as, line } = batch[i]!;
      if (outcome.status === 'rejected') throw this.#failed(line, withMessageId(outcome.reason, id));
      if (outcome.value !== 'kept') this.#past[outcome.value === 'created' ? as : 'dropped']++;
    }
  }

  /** Counts the outcome of a message, or returns why it was not written. */
  #failureOf({ offer, line }: ReadOffer, outcome: WriteOutcome): unknown {
    const error = outcome instanceof WriteFailure ? outcome.error : refusalOf(this.queue, offer, outcome);
    if (error !== undefined) return this.#failed(line, withMessageId(error, offer.id));
    this.#counts[(outcome as OfferReceipt).outcome as Written]++;
    return undefined;
  }

  #failed(line: number, error: unknown): unknown {
    if (!(error instanceof DelayQueueError)) return error;
    const { created, replaced } = this.#counts;
    const done = `Messages written before this: ${created + replaced}`;
    const problem = `line ${line}: ${error.message}. ${done}. Repeat the import: it leaves out those that are there`;
    return new DelayQueueError(error.code, problem, { cause: error, messageId: error.messageId! });
  }

  async #slowDown(written: number, took: number): Promise<void> {
    const { perSecond } = this.rules;
    const rest = perSecond === undefined ? 0 : (written / perSecond) * 1000 - took;
    if (rest > 0) await sleep(this.clock, rest);
  }

  /** @throws DelayQueueError `INVALID_ARGUMENT` if the export is not what was written */
  #assertWhole({ messages, digest }: EndLine): void {
    if (messages !== this.#messages)
      throw this.#invalid(`the export had ${messages} messages, but there are ${this.#messages} lines of messages`);
    if (digest !== String(this.#digest))
      throw this.#invalid('the digest differs, so a line before this one has changed');
  }

  #assert(check: () => void): void {
    try {
      check();
    } catch (error) {
      throw new DelayQueueError((error as DelayQueueError).code, `line ${this.#line}: ${(error as Error).message}`);
    }
  }

  #invalid(problem: string): DelayQueueError {
    return invalid(`line ${this.#line}`, problem);
  }
}

function refusalOf({ name }: Queue, { id }: Offer, { outcome, notCopied }: OfferReceipt): DelayQueueError | undefined {
  if (outcome === 'rejected') return duplicate(name, id);
  if (outcome === 'full') return new DelayQueueError('QUEUE_FULL', `queue '${name}' is full`, { messageId: id });
  if (outcome === 'oversized')
    return new DelayQueueError('PAYLOAD_TOO_LARGE', `message '${id}' is larger than Redis accepts`, { messageId: id });
  return notCopied;
}
