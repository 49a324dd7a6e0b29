import { explain, notConnected } from '../../../lib/redis/redis-errors.js';
import type { Scenario } from '../applications/scenario.js';
import type { Chance } from '../world/chance.js';
import type { SimulatedProcess } from '../world/simulated-process.js';

/** The faults of a call. */
export type CallFault =
  /** It never arrives, and its caller soon knows. */
  | 'refused'
  /** It never arrives. */
  | 'request lost'
  /** It takes effect, and its answer gets lost. */
  | 'answer lost'
  /** It arrives when its caller has given up. */
  | 'arrives late'
  /** It, and what is sent after it, takes its time to arrive. */
  | 'slow there'
  /** Its answer, and what is answered after it, takes its time. */
  | 'slow back';

export const CALL_FAULTS = [
  'refused',
  'request lost',
  'answer lost',
  'arrives late',
  'slow there',
  'slow back',
] as const;

/** Which call a fault is aimed at. */
export interface Aim {
  /** The names of calls, any of which will do. */
  readonly calls: readonly string[];
  /** The beginning of the queue's name; undefined: any queue. */
  readonly queue: string | undefined;
  /** Whether an answer is worth it: the fault concerns the answer alone. Undefined: the fault is drawn when the call is sent. */
  readonly isWorthIt?: (call: string, answer: unknown) => boolean;
}

/** Something that makes calls of a process fail for a while. */
export interface CallTrouble {
  readonly chance: Chance;
  readonly share: number;
  readonly faults: readonly [CallFault, ...CallFault[]];
  /** Undefined: any call. */
  readonly aim: Aim | undefined;
  /** After how long a call fails, or is answered, ms; undefined: drawn. */
  readonly delay: number | undefined;
  /** Called when it has struck; `until`: when the caller knows at the latest. */
  readonly onStrike: (call: string, fault: CallFault, until: number, queue: string | undefined) => void;
}

/** These take no effect once their callers have given up: a deadline travels with them. */
const HAVE_DEADLINE = new Set([
  ...['offer', 'cancel', 'reschedule', 'change', 'claim', 'transferAndClaim', 'extend', 'abort', 'pause', 'resume'],
  ...['clear', 'redrive', 'discard', 'setGroup'],
]);

/** What happens to a call. */
interface Fate {
  readonly trouble: ({ readonly fault: CallFault } & Pick<CallTrouble, 'onStrike'>) | undefined;
  /** For how long it is delayed, if it is, ms. */
  readonly delay: number;
  /** True if its caller learns of its loss only when it gives up. */
  readonly isNoticedLate: boolean;
}

/** The time for which a call whose connection is gone waits before it fails, as a share of its time. */
const HARDLY_ANY_TIME_LEFT = 0.9;

/** A process' end of the network: what it sends arrives in order, and so do the answers. */
export class Link {
  readonly troubles = new Set<CallTrouble>();
  readonly callTimeout: number;
  readonly #distance: number;
  readonly #chance: Chance;
  #downUntil = -Infinity;
  #waitsDeadUntil = -Infinity;
  #lastArrival = 0;
  #lastAnswer = 0;
  readonly #onCut = new Set<() => void>();
  /** What happens to the outcomes that follow at once; undefined: it is drawn. */
  #fateOfOutcomes: Fate | undefined;

  constructor(
    readonly process: SimulatedProcess,
    settings: Pick<Scenario, 'callTimeout' | 'distance'>,
  ) {
    this.callTimeout = settings.callTimeout;
    this.#distance = settings.distance;

    this.#chance = process.world.chance(`${process.name}/network`);
  }

  /** The time that something takes in one direction, ms. */
  latency(): number {
    const hop = 0.1 + 0.4 * this.#chance() ** 4;
    return this.#distance * hop + (this.#chance() < 0.001 ? 20 * this.#chance() : 0);
  }

  /** For what else happens at this end of the network. */
  draw(): number {
    return this.#chance();
  }

  /** From now on until then, waits are never answered. */
  silenceWaits(ms: number): void {
    this.#waitsDeadUntil = this.process.world.now + ms;
  }

  get areWaitsDead(): boolean {
    return this.process.world.now < this.#waitsDeadUntil;
  }

  get isDown(): boolean {
    return this.process.world.now < this.#downUntil;
  }

  /** The time at which it is up again, if it is down. */
  get upAt(): number {
    return this.#downUntil;
  }

  /** Nothing gets through for a while, and all connections are lost. */
  cut(ms: number): void {
    this.#downUntil = Math.max(this.#downUntil, this.process.world.now + ms);
    for (const task of [...this.#onCut]) task();
  }

  /** Calls a task whenever all connections are lost, until the returned function is called. */
  onCut(task: () => void): () => void {
    this.#onCut.add(task);
    return () => this.#onCut.delete(task);
  }

  /**
   * Has the server do some work, as far as the request and its answer get through.
   *
   * @param queue - that the call is about; undefined: none
   */
  call<Answer>(name: string, work: () => Promise<Answer>, queue?: string): Promise<Answer> {
    const { process, callTimeout } = this;
    const { world } = process;
    const sentAt = process.now;
    const givesUpAt = sentAt + callTimeout;
    return new Promise((resolve, reject) => {
      const fail = (at: number, error: Error) => void world.at(at, () => reject(error), process);
      const loseAnswer = (at: number) => fail(at, explain(name, new Error('Connection is closed.')));
      const perform = (at: number, answer: (result: Answer) => void) =>
        void world.at(at, () => {
          void work().then(answer, (error: Error) => fail(world.now + this.latency(), error));
        });

      let start = sentAt;
      if (this.isDown) {
        if (this.upAt > sentAt + callTimeout * HARDLY_ANY_TIME_LEFT)
          return fail(givesUpAt, notConnected(name, callTimeout, undefined));
        start = this.upAt;
      }
      const { trouble, delay, isNoticedLate } = this.#fateOf(name, queue);
      if (trouble) {
        const { fault, onStrike } = trouble;
        const noticed = isNoticedLate ? givesUpAt : Math.min(givesUpAt, start + delay);
        if (fault === 'refused') {
          onStrike(name, fault, start + delay, queue);
          return fail(start + delay, notConnected(name, callTimeout, undefined));
        }
        if (fault === 'request lost' || fault === 'arrives late') {
          onStrike(name, fault, noticed, queue);
          if (fault === 'arrives late' && !HAVE_DEADLINE.has(name)) perform(noticed + 2 * delay, () => undefined);
          return loseAnswer(noticed);
        }
        if (fault === 'answer lost') {
          onStrike(name, fault, noticed, queue);
          perform(start + Math.min(delay, noticed - start), () => undefined);
          return loseAnswer(noticed);
        }
        onStrike(name, fault, start + delay, queue);
        if (fault === 'slow there') this.#lastArrival = Math.max(this.#lastArrival, start + delay);
        else this.#lastAnswer = Math.max(this.#lastAnswer, start + delay);
      }
      const arrival = (this.#lastArrival = Math.max(this.#lastArrival, start + this.latency()));
      if (arrival > givesUpAt) {
        if (!HAVE_DEADLINE.has(name)) perform(arrival, () => undefined);
        return loseAnswer(givesUpAt);
      }
      perform(arrival, (result) => {
        const late = this.#troubleOf(name, queue, { result });
        if (late) {
          const { fault, onStrike, delay = callTimeout * this.#chance() } = late;
          const until = Math.min(givesUpAt, Math.max(world.now, start + delay));
          onStrike(name, fault, until, queue);
          if (fault === 'answer lost') return loseAnswer(until);
          this.#lastAnswer = Math.max(this.#lastAnswer, until);
        }
        const answered = (this.#lastAnswer = Math.max(this.#lastAnswer, world.now + this.latency()));
        if (answered > givesUpAt || this.isDown) loseAnswer(Math.min(answered, givesUpAt));
        else world.at(answered, () => resolve(result), process);
      });
    });
  }

  /** What a queue remembers is sent right before the outcomes, on the same connection: whatever happens, happens to both. */
  #fateOf(call: string, queue: string | undefined): Fate {
    const fate = this.#fateOfOutcomes;
    this.#fateOfOutcomes = undefined;
    if (fate && call === 'settle') return fate;
    const isAhead = call === 'remember';
    const trouble = this.#troubleOf(isAhead ? 'settle' : call, queue);
    const delay = trouble?.delay ?? this.callTimeout * this.#chance();
    const isNoticedLate = trouble !== undefined && trouble.delay === undefined && this.#chance() < 0.5;
    const drawn = { trouble, delay, isNoticedLate };
    if (isAhead) this.#fateOfOutcomes = { ...drawn, trouble: trouble && { ...trouble, onStrike: () => undefined } };
    return drawn;
  }

  #troubleOf(
    call: string,
    queue: string | undefined,
    answer?: { readonly result: unknown },
  ): ({ readonly fault: CallFault } & Pick<CallTrouble, 'delay' | 'onStrike'>) | undefined {
    for (const { chance, share, faults, aim, delay, onStrike } of this.troubles) {
      if (aim && !isAimedAt(aim, call, queue)) continue;
      if (answer ? !aim?.isWorthIt?.(call, answer.result) : aim?.isWorthIt) continue;
      if (chance() < share) return { fault: faults[Math.floor(chance() * faults.length)]!, delay, onStrike };
    }
    return undefined;
  }
}

const isAimedAt = (aim: Aim, call: string, queue: string | undefined) =>
  aim.calls.includes(call) && (aim.queue === undefined || Boolean(queue?.startsWith(aim.queue)));
