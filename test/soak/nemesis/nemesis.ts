import { Random } from '../random.js';
import type { Servers } from '../servers/servers.js';
import type { Fault, FaultContext } from './fault.js';
import type { FaultLog } from './fault-log.js';
import type { PlannedFault } from './fault-plan.js';

/** Carries out a plan of faults. */
export class Nemesis<Redis extends Servers> {
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #underWay = new Set<Promise<void>>();
  readonly #problems: unknown[] = [];
  #atServer: Promise<void> = Promise.resolve();
  #healing = false;

  constructor(
    private readonly context: Omit<FaultContext<Redis>, 'open'>,
    private readonly log: FaultLog,
    private readonly faults: readonly Fault<Redis>[],
  ) {}

  start(plan: readonly PlannedFault[]): void {
    for (const planned of plan) this.#timers.push(setTimeout(() => this.#strike(planned), planned.at));
  }

  /**
   * Begins no more faults, and resolves once those under way are healed.
   *
   * @throws AggregateError if a fault could not strike or be healed
   */
  async heal(): Promise<void> {
    this.#healing = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all(this.#underWay);
    if (this.#problems.length > 0) throw new AggregateError(this.#problems, 'The nemesis failed.');
  }

  #strike({ kind, seed, turn }: PlannedFault): void {
    const fault = this.faults.find((candidate) => candidate.kind === kind);
    if (!fault) throw new Error(`There is no fault '${kind}'.`);
    const { costsLeases, replaces = false, disorders = false, crowds = false } = fault;
    const open: FaultContext['open'] = (processes, detail) =>
      this.log.open({ kind, costsLeases, replaces, disorders, crowds, processes, detail, injected: true });
    const strike = () => fault.strike({ ...this.context, open }, new Random(seed), turn);
    const work = (fault.of === 'server' ? this.#afterOthers(strike) : strike()).catch((problem: unknown) => {
      this.#problems.push(problem);
    });
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  #afterOthers(strike: () => Promise<void>): Promise<void> {
    const mine = this.#atServer.then(() => (this.#healing ? undefined : strike()));
    this.#atServer = mine.catch(() => undefined);
    return mine;
  }
}
