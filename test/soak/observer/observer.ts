import { readFileSync } from 'node:fs';
import type { Journal } from '../journal/journal.js';
import { MIN_REPORTED, watchForStalls } from '../journal/stall-watch.js';
import type { FaultLog } from '../nemesis/fault-log.js';
import type { Fleet } from '../processes/fleet.js';
import { isReplicated } from '../servers/replicated-servers.js';
import type { Servers } from '../servers/servers.js';
import { SOAK_USER } from '../soak-user.js';
import { FailoverWatch } from './failover-watch.js';
import type { QueueKeys } from './queue-keys.js';
import { HoldingWatch } from './holding-watch.js';
import type { Sample } from './sample.js';
import { countStray } from './stray-messages.js';

const INTERVAL = 1000;
const PAGE = 4096;

/** Samples the server and the processes once a second. */
export class Observer {
  readonly samples: Sample[] = [];
  #timer: NodeJS.Timeout | undefined;
  #endWatch: () => void = () => undefined;
  #looking: Promise<void> = Promise.resolve();
  #busy = false;
  readonly #holdings: HoldingWatch;
  readonly #failovers: FailoverWatch | undefined;

  constructor(
    private readonly servers: Servers,
    private readonly queues: readonly QueueKeys[],
    private readonly subjects: {
      readonly journal: Journal;
      readonly fleet: Fleet;
      readonly log: FaultLog;
      readonly now: () => number;
    },
  ) {
    this.#holdings = new HoldingWatch(servers.client, queues, subjects.journal);
    this.#failovers = isReplicated(servers) ? new FailoverWatch(servers, subjects) : undefined;
  }

  start(): void {
    const { fleet, log, now } = this.subjects;
    // The proxy runs in this process, so its stalls are the proxy's.
    this.#endWatch = watchForStalls(now, (from, to) => {
      const about = { processes: fleet.behindProxy, detail: `for ${to - from} ms` };
      log.add({ kind: 'proxy stalled by the machine', from, to, ...about, costsLeases: true, injected: false });
    });
    this.#failovers?.start();
    this.#timer = setInterval(() => {
      if (this.#busy) return;
      this.#busy = true;
      this.#looking = this.#look().finally(() => (this.#busy = false));
    }, INTERVAL);
  }

  async stop(): Promise<void> {
    this.#endWatch();
    clearInterval(this.#timer);
    await this.#looking;
    await this.#failovers?.stop();
    this.#holdings.finish();
  }

  /** Counts the pending entries of all queues: delayed and ready messages, claims, followers, and messages in no state or in backlogs. */
  async underWay(): Promise<number> {
    const { client } = this.servers;
    const counts = this.queues.flatMap((keys) => {
      const { sets, lists, claims, repaired } = keys;
      return [
        ...sets.map((key) => client.zcard(key)),
        ...lists.map((key) => client.llen(key)),
        client.hlen(claims),
        client.hlen(repaired.followers),
        // Without their keys, the backlogs count as well.
        countStray(client, { repaired }),
      ];
    });
    return sumOf(await Promise.all(counts));
  }

  /** The number of connections of producers and workers. */
  async connections(): Promise<number> {
    const lists = await this.servers.ask('CLIENT', 'LIST');
    return sumOf(lists.map((list) => String(list).split(` user=${SOAK_USER} `).length - 1));
  }

  async #look(): Promise<void> {
    const { fleet, log, now } = this.subjects;
    const from = now();
    try {
      const [memory, connections, stored] = await Promise.all([
        this.servers.ask('INFO', 'memory'),
        this.connections(),
        this.underWay(),
        this.#holdings.look(),
      ]);
      const veterans = fleet.berths.filter(({ veteran }) => veteran).map(({ process }) => process);
      this.samples.push({
        at: now(),
        usedMemory: sumOf(memory.map((info) => numberIn(String(info), 'used_memory'))),
        connections,
        stored,
        rss: Object.fromEntries(veterans.map(({ index, pid }) => [index, residentMemory(pid)])),
      });
    } catch {
      // Redis is down, which the fault log already says.
      return;
    }
    if (now() - from > MIN_REPORTED) {
      const detail = `its answer took ${now() - from} ms`;
      log.add({
        kind: 'server stalled by the machine',
        from,
        to: now(),
        processes: 'all',
        detail,
        costsLeases: true,
        injected: false,
      });
    }
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

function numberIn(info: string, field: string): number {
  return Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(info)?.[1] ?? NaN);
}

function residentMemory(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE;
  } catch {
    // Not on Linux, or the process has just ended.
    return NaN;
  }
}
