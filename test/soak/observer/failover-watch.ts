import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultLog } from '../nemesis/fault-log.js';
import { overlap, type Span } from '../nemesis/fault-window.js';
import type { ReplicatedServers } from '../servers/replicated-servers.js';

const INTERVAL = 500;

interface Failover {
  /** Between two looks. */
  readonly change: Span;
  /** The time at which Redis acknowledged what it may have forgotten. */
  readonly forgotten: Span;
}

/** The tools with which a failover is recorded. */
interface Subjects {
  readonly log: FaultLog;
  /** ms since the run's epoch. */
  readonly now: () => number;
}

/**
 * Watches which servers are primaries. A busy machine can keep one silent for so long that it is replaced although no fault asked
 * for that; what Redis then forgets says nothing about the module.
 */
export class FailoverWatch {
  readonly #seen: Failover[] = [];
  #isOver = false;
  #watching: Promise<void> = Promise.resolve();

  constructor(
    private readonly servers: Pick<ReplicatedServers, 'primaries' | 'patience' | 'untilWhole'>,
    private readonly subjects: Subjects,
  ) {}

  start(): void {
    this.#watching = this.#watch();
  }

  /** Ends the watch, and records the failovers that belong to no fault. */
  async stop(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#watching;
    const { log } = this.subjects;
    const faults = new Set(log.windows.filter(({ replaces }) => replaces));
    for (const { change, forgotten } of this.#seen) {
      const fault = [...faults].find((each) => overlap(each, change));
      // A fault explains one failover: sentinels that disagree may replace the new primary as well.
      if (fault && faults.delete(fault)) continue;
      log.add({
        ...{ kind: 'primary replaced by the machine', detail: 'it was silent for too long', processes: 'all' },
        ...{ costsLeases: true, replaces: true, injected: false, forgotten: [forgotten], ...forgotten },
      });
    }
  }

  async #watch(): Promise<void> {
    const { now } = this.subjects;
    let known: string | undefined;
    let from = now();
    const look = async () => {
      const at = now();
      const primaries = await this.servers.primaries().catch(() => undefined);
      if (primaries === undefined) return;
      if (known !== undefined && primaries !== known) {
        const change = { from, to: now() };
        await this.servers.untilWhole().catch(() => undefined);
        // It was replaced because it had been silent; what it acknowledged right before may not have been replicated.
        this.#seen.push({ change, forgotten: { from: from - 2 * this.servers.patience, to: now() } });
      }
      [known, from] = [primaries, at];
    };
    while (!this.#isOver) {
      await look();
      await sleep(INTERVAL);
    }
    // Sees a failover that has just ended.
    await look();
  }
}
