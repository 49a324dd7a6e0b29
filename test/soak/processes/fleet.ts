import { join } from 'node:path';
import type { Random } from '../random.js';
import type { Servers } from '../servers/servers.js';
import { isNaive, type SoakSettings } from '../soak-settings.js';
import { QUEUE_NAMES } from '../workload/message-plan.js';
import type { CompiledPrograms } from '../../support/compiled-programs.js';
import type { ProcessSettings } from './process-settings.js';
import { SoakProcess } from './soak-process.js';

export type Role = 'producer' | 'worker';

/** A process' place in the fleet; when the process is killed, another one takes its place. */
export interface Berth {
  readonly role: Role;
  /** Its process lives as long as the soak, so growth shows there. */
  readonly veteran: boolean;
  /** True if its connections go through the proxy. */
  readonly viaProxy: boolean;
  /** True if its clock is wrong. */
  readonly mistimed: boolean;
  process: SoakProcess;
}

export interface FleetOptions {
  readonly soak: SoakSettings;
  readonly prefix: string;
  readonly epoch: number;
  readonly servers: Pick<Servers, 'connection' | 'proxiedConnection' | 'commandConnections'>;
  readonly folder: string;
  readonly programs: CompiledPrograms;
}

/** How wrong the clocks are, ms. */
const SHIFTS = [-26, -1, 3, 14].map((hours) => hours * 3_600_000);

/** All producers and workers. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #berths: Berth[] = [];
  readonly #busy = new Set<Berth>();
  /** Every process so far, at its index less one. */
  readonly #processes: SoakProcess[] = [];
  readonly #ended = new Set<Role>();
  /** The number of partitions of new processes. */
  #partitions: number;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#partitions = options.soak.partitions;
  }

  /** Starts producers last, so that nothing is offered before a worker can handle it. */
  async start(): Promise<void> {
    const { workers, producers } = this.#options.soak;
    const roles: Role[] = [...Array<Role>(workers).fill('worker'), ...Array<Role>(producers).fill('producer')];
    for (const [at, role] of roles.entries()) {
      const place = role === 'worker' ? at : at - workers;
      const own = {
        role,
        veteran: place === 0,
        viaProxy: place % 2 === 1,
        mistimed: role === 'producer' && place % 2 === 0,
      };
      this.#berths.push({ ...own, process: this.#spawn(own) });
    }
    await Promise.all(this.#berths.map(({ process }) => process.ready()));
    for (const berth of this.#berths) this.#supervise(berth);
  }

  /** The maximum number of connections while all processes run and nothing is wrong. */
  get connections(): number {
    const { soak, servers } = this.#options;
    const ofAProducer = servers.commandConnections * (soak.acknowledge > 0 ? 2 : 1);
    return soak.workers * this.connectionsOfAWorker + soak.producers * ofAProducer;
  }

  /**
   * The maximum number of connections of a worker. The module has one for announcements and one for each partition of a queue, or
   * two with Redisson's layout, and one for the messages of a queue that have groups, besides those for commands; it has fewer while wake-up signals share connections, which ends when the
   * server refuses the call of several keys. A naive consumer has two for each queue.
   */
  get connectionsOfAWorker(): number {
    const queues = QUEUE_NAMES.length;
    const { soak, servers } = this.#options;
    if (isNaive(soak.consumer)) return 2 * queues;
    const wakeSignals = soak.layout === 'redisson' ? 2 * queues : queues * this.#partitions;
    const ofGroups = soak.groups > 0 ? queues : 0;
    return servers.commandConnections + 1 + wakeSignals + ofGroups;
  }

  get berths(): readonly Berth[] {
    return this.#berths;
  }

  /** The number of partitions that new processes are told of. */
  get partitions(): number {
    return this.#partitions;
  }

  /** Tells every new process of more partitions. */
  growTo(partitions: number): void {
    this.#partitions = partitions;
  }

  /** The indexes of running processes whose connections go through the proxy, including those that lost their place. */
  get behindProxy(): number[] {
    return this.#processes.filter((process) => process.isRunning && process.viaProxy).map(({ index }) => index);
  }

  /**
   * Chooses a process that no other fault uses, and reserves it until `use` ends.
   *
   * @returns undefined if there is none
   */
  async withOne<T>(
    random: Random,
    which: (berth: Berth) => boolean,
    use: (berth: Berth) => Promise<T>,
  ): Promise<T | undefined> {
    const free = this.#berths.filter((berth) => !this.#busy.has(berth) && which(berth));
    if (free.length === 0) return undefined;
    const chosen = random.pick(free);
    this.#busy.add(chosen);
    try {
      return await use(chosen);
    } finally {
      this.#busy.delete(chosen);
    }
  }

  /** Starts a new process in a place, and waits until it is ready. */
  async replace(berth: Berth): Promise<void> {
    berth.process = this.#spawn(berth);
    await berth.process.ready();
    this.#supervise(berth);
  }

  /** Stops the processes of a role gracefully, and kills those that take longer than `within` ms. */
  async stop(role: Role, within: number): Promise<void> {
    this.#ended.add(role);
    const processes = this.#berths.filter((berth) => berth.role === role).map(({ process }) => process);
    const timer = setTimeout(() => processes.forEach((process) => void process.kill('SIGKILL')), within);
    for (const process of processes) process.askToStop();
    await Promise.all(processes.map((process) => process.exited()));
    clearTimeout(timer);
  }

  /** Kills whatever still runs. */
  async kill(): Promise<void> {
    this.#ended.add('worker').add('producer');
    await Promise.all(this.#processes.map((process) => process.kill('SIGKILL')));
  }

  /** Processes that ended neither normally nor by a signal. */
  crashes(): string[] {
    return this.#processes
      .filter(({ hasCrashed }) => hasCrashed)
      .map(({ end, log }) => `a process ended with ${end}, see ${log}`);
  }

  /** Restarts a crashed process, so that the fleet stays complete; the crash is still reported. */
  #supervise(berth: Berth): void {
    const { process } = berth;
    void process.exited().then(() => {
      if (!process.hasCrashed || berth.process !== process || this.#ended.has(berth.role)) return;
      // A process that does not even start counts as another crash.
      this.replace(berth).catch(() => undefined);
    });
  }

  #spawn({ role, viaProxy, mistimed }: Omit<Berth, 'process'>): SoakProcess {
    const { soak, prefix, epoch, servers, folder, programs } = this.#options;
    const index = this.#processes.length + 1;
    const name = `${String(index).padStart(3, '0')}-${role}`;
    const programName = role === 'worker' && isNaive(soak.consumer) ? 'naive' : role;
    const program = programs.pathOf(new URL(`./${programName}.program.ts`, import.meta.url));
    const settings: ProcessSettings = {
      ...{ soak, index, prefix, epoch },
      connection: viaProxy ? servers.proxiedConnection : servers.connection,
      partitions: this.#partitions,
      journal: join(folder, 'journals', `${name}.journal`),
      shift: mistimed ? SHIFTS[index % SHIFTS.length]! : 0,
    };
    const process = new SoakProcess(program, settings, { log: join(folder, 'logs', `${name}.log`), viaProxy });
    this.#processes.push(process);
    return process;
  }
}
