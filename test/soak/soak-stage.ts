import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CompiledPrograms } from '../support/compiled-programs.js';
import { Journal } from './journal/journal.js';
import { FaultLog } from './nemesis/fault-log.js';
import { Observer } from './observer/observer.js';
import { keysOfQueues, type QueueKeys } from './observer/queue-keys.js';
import { Fleet } from './processes/fleet.js';
import type { Servers } from './servers/servers.js';
import type { SoakSettings } from './soak-settings.js';

const PREFIX = 'soak';

/** Number 0, because the processes count from 1. */
const OBSERVER_JOURNAL = '000-observer.journal';

/** The stage of a run: servers with proxies in front of them, the processes and the observer. */
export class SoakStage<Redis extends Servers = Servers> {
  readonly epoch = Date.now();
  readonly prefix = PREFIX;
  readonly queues: readonly QueueKeys[];
  readonly journals: string;
  readonly log: FaultLog;
  readonly fleet: Fleet;
  readonly observer: Observer;
  readonly #programs = new CompiledPrograms();

  /**
   * @param servers - the stage stops them
   * @param partitions - how many a queue will have at most
   */
  constructor(
    readonly settings: SoakSettings,
    readonly servers: Redis,
    partitions: number,
  ) {
    const folder = settings.out;
    for (const old of ['journals', 'logs', 'faults.jsonl']) rmSync(join(folder, old), { recursive: true, force: true });
    this.journals = join(folder, 'journals');
    for (const own of [this.journals, join(folder, 'logs')]) mkdirSync(own, { recursive: true });
    this.queues = keysOfQueues(settings, PREFIX, partitions);
    this.log = new FaultLog(join(folder, 'faults.jsonl'), () => this.now());
    const programs = this.#programs;
    this.fleet = new Fleet({ soak: settings, prefix: PREFIX, epoch: this.epoch, folder, programs, servers });
    this.observer = new Observer(servers, this.queues, {
      journal: new Journal(join(this.journals, OBSERVER_JOURNAL), this.epoch),
      fleet: this.fleet,
      log: this.log,
      now: () => this.now(),
    });
  }

  now(): number {
    return Date.now() - this.epoch;
  }

  /** Stops everything and leaves only files behind. */
  async clear(): Promise<void> {
    await this.observer.stop();
    await this.fleet.kill();
    await this.servers.stop();
    this.#programs.remove();
  }
}
