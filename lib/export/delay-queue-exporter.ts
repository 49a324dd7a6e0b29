import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { UNNAMED } from '../message/instance-name.js';
import { readFields, readWholeNumber } from '../message/read-fields.js';
import { showGiven } from '../message/show-given.js';
import { CLOCK } from '../runtime/delay-queue-tokens.js';
import { findInstance, type Instance } from '../runtime/instance.js';
import type { Clock } from '../timing/clock.js';
import { writeLine } from './export-line.js';
import { QueueExport } from './queue-export.js';
import { type ImportReport, type ImportRules, QueueImport } from './queue-import.js';

/** Options of an import. */
export interface ImportOptions {
  /**
   * What to do with a message whose id is in use: leave it out, let it replace the other one, or stop with `DUPLICATE_MESSAGE`.
   * @defaultValue `'keep'`
   */
  readonly onDuplicate?: 'keep' | 'replace' | 'reject' | undefined;
  /** True: check the export, and write nothing. @defaultValue `false` */
  readonly dryRun?: boolean | undefined;
  /** The maximum number of messages written in a second: 1–1,000,000. @defaultValue no limit */
  readonly perSecond?: number | undefined;
}

const ON_DUPLICATE = ['keep', 'replace', 'reject'] as const;
const MAX_PER_SECOND = 1_000_000;

/**
 * Reads a whole queue as lines of text, and writes such lines into a queue. `docs/moving.md` describes what they contain. Add it to the
 * providers of a module that imports `DelayQueueModule`.
 * @example
 * ```ts
 * const exporter = context.get(DelayQueueExporter);
 * await pipeline(exporter.exportQueue('orders'), createWriteStream('orders.ndjson'));
 *
 * const lines = createInterface({ input: createReadStream('orders.ndjson') });
 * const { created, kept } = await exporter.importQueue('orders', lines);
 * ```
 */
@Injectable()
export class DelayQueueExporter {
  // Injected as a property: constructor parameters, and all types they refer to, would become part of the public API.
  @Inject() private readonly modules!: ModuleRef;

  /**
   * Reads a queue, line by line. Each line is a JSON object, and ends with a line feed. The queue may be in use: messages that exist from the
   * start to the end are read at least once, and the last line says that it was in use.
   * @param queue - 1–128 of the characters `A–Z a–z 0-9 _ . : -`
   * @throws DelayQueueError like the methods of `DelayQueueProducer`; also `UNSUPPORTED_BY_LAYOUT`
   */
  async *exportQueue(queue: string): AsyncGenerator<string, void, undefined> {
    const instance = this.#instance;
    for await (const line of new QueueExport(instance, instance.queues.named(queue)).lines()) {
      yield `${writeLine(line)}\n`;
    }
  }

  /**
   * Writes an export into a queue. It can be repeated after a failure. If the exported queue was paused, so is this one, before anything is
   * written.
   * @param queue - as in {@link exportQueue}; not necessarily that of the export
   * @param lines - the lines, without line feeds
   * @throws DelayQueueError like the methods of `DelayQueueProducer`; `INVALID_ARGUMENT` also for a line that cannot be read, with its number,
   *   and for an export that is incomplete; `DUPLICATE_MESSAGE`
   */
  async importQueue(
    queue: string,
    lines: AsyncIterable<string> | Iterable<string>,
    options: ImportOptions = {},
  ): Promise<ImportReport> {
    const rules = readRules(options);
    const instance = this.#instance;
    const clock = this.modules.get<Clock>(CLOCK, { strict: false });
    return new QueueImport(instance, instance.queues.named(queue), rules, clock).run(lines);
  }

  /** A tool has a single, unnamed instance. */
  get #instance(): Instance {
    return findInstance(this.modules, UNNAMED);
  }
}

function readRules(options: ImportOptions): ImportRules {
  const given = readFields(options, 'options', ['onDuplicate', 'dryRun', 'perSecond']);
  const { onDuplicate = 'keep', dryRun = false, perSecond } = given;
  if (!ON_DUPLICATE.includes(onDuplicate)) {
    const choices = ON_DUPLICATE.map((choice) => `'${choice}'`).join(' or ');
    throw new DelayQueueError('INVALID_ARGUMENT', `onDuplicate must be ${choices}, not ${showGiven(onDuplicate)}`);
  }
  if (typeof dryRun !== 'boolean')
    throw new DelayQueueError('INVALID_ARGUMENT', `dryRun must be true or false, not ${showGiven(dryRun)}`);
  if (perSecond !== undefined) readWholeNumber('perSecond', perSecond, [1, MAX_PER_SECOND]);
  return { onDuplicate, dryRun, perSecond };
}
