import { hostname } from 'node:os';
import type { SlotUsage } from '../consumer/activity.js';
import type { Events } from '../events/events.js';
import { hasCode, showFailure } from '../message/failure.js';
import { REPORT_VALID, type WorkerRegistry } from '../store/worker-registry.js';
import type { CancelTimer, Clock } from '../timing/clock.js';
import { inSlices } from '../timing/event-loop.js';
import { QueueActivity } from './queue-activity.js';
import { VERSION } from './version.js';
import { MAX_QUEUES, type OwnQueue, writeReport } from './worker-report.js';

/** The time between two reports, ms. A report stays valid for three times as long. */
const INTERVAL = 10_000;

/** The time after which a process that was not connected when it started tries its first report again, ms. */
const FIRST_TRY_INTERVAL = 500;

/** The number of refusals in a row after which no report is valid any more. */
const MAX_REFUSALS = REPORT_VALID / INTERVAL;

/** Serves a queue or family. */
interface Served {
  readonly usage: SlotUsage;
}

interface RankedQueue {
  readonly queue: string;
  readonly usage: SlotUsage;
  readonly outcomes: number;
}

/**
 * Reports this process to the registry of workers, every ten seconds while it handles queues. Nothing waits for a report. A failed one is
 * not repeated, because the next one follows anyway, and not logged, because the connection's events report an outage.
 */
export class Heartbeat {
  readonly #activities = new Map<string, QueueActivity>();
  #workers: ReadonlyMap<string, Served> = new Map();
  #startedAt = 0;
  #cancelTimer: CancelTimer | undefined;
  /** Resolves when the report that is being sent has been answered. */
  #sending: Promise<void> | undefined;
  /** The number of reports in a row that the store has refused. */
  #refusals = 0;
  #hasReported = false;
  #stopped = false;

  constructor(
    private readonly options: {
      /** The id by which the registry lists this process. */
      readonly id: string;
      readonly registry: WorkerRegistry;
      /** False while no report should be sent. */
      readonly isConnected: () => boolean;
      readonly clock: Clock;
      readonly events: Pick<Events, 'note'>;
    },
  ) {}

  /** Returns the counters of a queue or family. */
  activityOf(name: string): QueueActivity {
    const activity = this.#activities.get(name) ?? new QueueActivity();
    this.#activities.set(name, activity);
    return activity;
  }

  /** Sends the first report, and the others from now on. @param workers - by queue or family */
  start(workers: ReadonlyMap<string, Served>): void {
    this.#workers = workers;
    this.#startedAt = this.options.clock.monotonic();
    void this.#beat();
  }

  /** Sends no more reports, and removes the last one, without waiting for the answer. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#cancelTimer?.();
    if (this.#hasReported && this.options.isConnected()) void this.#leave();
  }

  async #beat(): Promise<void> {
    const { clock, isConnected } = this.options;
    const mayReport = this.#hasReported || isConnected();
    this.#cancelTimer = clock.schedule(() => void this.#beat(), mayReport ? INTERVAL : FIRST_TRY_INTERVAL);
    // Nothing has been handled yet, and counting periods begin with the first report.
    if (!mayReport) return;
    const report = await this.#describe();
    if (this.#stopped || this.#sending || !isConnected()) return;
    this.#hasReported = true;
    this.#sending = this.#send(report);
    await this.#sending;
    this.#sending = undefined;
  }

  /** Never rejects. */
  async #send(report: string): Promise<void> {
    const { id, registry, events } = this.options;
    try {
      await registry.report(id, report);
      this.#refusals = 0;
    } catch (error) {
      if (!hasCode(error, 'STORE_REFUSED')) return;
      if (++this.#refusals === MAX_REFUSALS) events.note('heartbeat-refused', { reason: showFailure(error) });
    }
  }

  async #leave(): Promise<void> {
    // A report that is being sent again would otherwise arrive after the removal.
    await this.#sending;
    await this.options.registry.remove(this.options.id).catch(() => undefined);
  }

  /** Ends the current period of all counters, and writes the report of the last minute. */
  async #describe(): Promise<string> {
    const { clock } = this.options;
    const ranked: RankedQueue[] = [];
    await inSlices(this.#workers, clock, ([queue, { usage }]) => {
      const activity = this.activityOf(queue);
      activity.nextPeriod();
      ranked.push({ queue, usage, outcomes: activity.outcomes });
    });
    ranked.sort(byUse);
    const now = clock.monotonic();
    const queues = ranked.slice(0, MAX_QUEUES).map((each) => this.#describeQueue(each, now));
    const age = Math.round(now - this.#startedAt);
    return writeReport({ host: hostname(), pid: process.pid, version: VERSION, age, queues });
  }

  #describeQueue({ queue, usage }: RankedQueue, now: number): OwnQueue {
    const { slots, used, longest } = usage;
    return {
      ...{ queue, slots, used },
      ...this.activityOf(queue).summarize(),
      longest: longest && { id: longest.id, type: longest.type, age: Math.round(now - longest.startedAt) },
    };
  }
}

function byUse(one: RankedQueue, other: RankedQueue): number {
  return other.usage.used - one.usage.used || other.outcomes - one.outcomes || (one.queue < other.queue ? -1 : 1);
}
