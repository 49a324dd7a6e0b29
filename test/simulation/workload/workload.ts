import type { DelayQueueProducer } from '../../../lib/index.js';
import type { StoredMessage } from '../../../lib/store/admin-store.js';
import type { ClaimedTransfer, ClaimReport, TransferReport } from '../../../lib/store/consumer-store.js';
import { type Conduct, LONG } from '../applications/conduct.js';
import {
  drawQueue,
  keepsIds,
  ownAttemptsOf,
  type QueueTraits,
  releaseFor,
  type Scenario,
  TYPES,
} from '../applications/scenario.js';
import { claimedBy, type Effect } from '../network/remote-store.js';
import { numberOf } from '../oracle/life.js';
import type { Oracle } from '../oracle/oracle.js';
import { type Chance, Drawer, integer, pick } from '../world/chance.js';
import type { World } from '../world/world.js';
import { Administrator } from './administrator.js';
import { Calls, type CallsOptions, type Running } from './calls.js';
import { FIRST_RULE, Rules } from './rules.js';

export interface WorkloadOptions {
  readonly world: World;
  readonly scenario: Scenario;
  readonly oracle: Oracle;
  /** The number of messages that are offered. */
  readonly messages: number;
  /** The time by the clock of the server, ms since 1970. */
  readonly time: () => number;
  /** False: what happens now may get lost. */
  readonly isReplicating: () => boolean;
  /** Decides what the first handler of a message does. */
  readonly conductOf: (message: number) => Conduct;
  /** Has the next release take the place of the first, unless that has begun. */
  readonly deploy: () => void;
  readonly choose: CallsOptions['choose'];
}

/** The time for which offers may replace each other, ms. */
const MAX_WAIT = 1500;

/** A message that takes longer than this meets others that do, ms. */
const SLOW = 50;

/** Messages that are due soon after each other are so within this time, ms. */
const NEAR = 500;

/** The time between the first messages of a crowd that take a call each, besides the time for which they wait for others, ms. */
const STAGGER = 10;

/** One more than there can be calls: some are cancelled, or moved. */
const singlesOf = ({ concurrency }: QueueTraits) => concurrency + 1;

const batchOf = ({ capacity, concurrency }: QueueTraits) => capacity / concurrency;

/** The maximum size of a crowd in the queue with batches, its maximum delay, and the time that it is given to end, ms. */
const MAX_CROWD = 24;
const MAX_DELAY_OF_CROWD = 1500;
const CROWD_LASTS = 1500;

/** In a quiet phase, how often something happens to messages while the answer of a call about them is under way. */
const MEANWHILE = { abort: 0.2, offer: 0.2, change: 0.5, pause: 0.02, clear: 0.003 } as const;

/** The maximum delay of a message that is offered meanwhile, ms. */
const MAX_DELAY_MEANWHILE = 3000;

/** How long a change takes at most without any trouble, ms. */
const MAX_CHANGE = 100;

/** Producers: they offer messages, and change their minds about some. */
export class Workload {
  /** The number of messages that were left to producers. One that is killed, or frozen, has not offered its own yet. */
  offered = 0;
  readonly administrator: Administrator;
  readonly #chance: Chance;
  readonly #quiet: Drawer<QueueTraits>;
  readonly #busy: Drawer<QueueTraits>;
  readonly #calls: Calls;
  readonly #rules: Rules;
  /** The ids of messages that were changed a moment ago, while another change was under way. */
  readonly #changing = new Set<string>();
  /** From when on a crowd may meet in the queue with batches, ms of the world. */
  #nextCrowdAt = -Infinity;

  constructor(private readonly options: WorkloadOptions) {
    const { world, scenario, oracle, choose, messages, time, isReplicating } = options;
    const { queues, quiet, busy } = scenario;
    const chance = (this.#chance = world.chance('workload'));
    const isOver = () => this.offered >= messages;
    const offerAtOnce = (traits: QueueTraits, count: number) => this.#offerAtOnce(traits, count);
    const calls = (this.#calls = new Calls({ world, chance, choose }));
    this.administrator = new Administrator({ world, scenario, oracle, chance, calls, isOver, offerAtOnce });
    this.#quiet = new Drawer(queues, quiet.shares);
    this.#busy = new Drawer(queues, busy.shares);
    this.#rules = new Rules({ world, scenario, choose, time, isReplicating, isOver });
  }

  get isDone(): boolean {
    return this.offered >= this.options.messages && this.#calls.pending === 0 && this.#rules.areDone;
  }

  start(): void {
    this.#next();
    this.administrator.start();
    this.#rules.start();
  }

  #next(): void {
    const { world, scenario, messages } = this.options;
    if (this.offered >= messages) return;
    const isBusy = scenario.isBusyAt(this.offered);
    const { gap, burst } = isBusy ? scenario.busy : scenario.quiet;
    world.after(2 * gap * burst * this.#chance(), () => {
      // Others may have offered the last ones meanwhile.
      if (this.offered >= messages) return;
      if (this.offered >= scenario.deployedFrom) this.options.deploy();
      const count = Math.min(integer(this.#chance, 1, 2 * burst - 1), messages - this.offered);
      const running = this.#calls.choose();
      if (running) {
        const first = this.offered;
        this.offered += count;
        this.#calls.run(running, () => {
          const numbers = Array.from({ length: count }, (_, i) => first + i);
          if (this.#chance() < (isBusy ? 0.99 : 0.8)) this.#offerMany(running, numbers);
          else for (const number of numbers) this.#offerMany(running, [number]);
        });
      }
      this.#next();
    });
  }

  /** A call has taken effect, and its answer is under way: now and then, something else happens to the same messages or queue. */
  meanwhile(effect: Effect): void {
    const { queue, call, args, result } = effect;
    const { scenario, messages } = this.options;
    if (this.offered >= messages || scenario.isBusyAt(this.offered)) return;
    const traits = scenario.queues.find(({ name }) => name === queue)!;
    if (call === 'find') return this.#changeMeanwhile(traits, args[0] as string, result as StoredMessage | null);
    const claimed = claimedBy(effect);
    this.#abortMeanwhile(traits, claimed);
    // What was claimed waits for others, which nobody may claim now.
    if (traits.batchWait > 0 && claimed.length > 0 && this.#chance() < MEANWHILE.pause) {
      this.administrator.pause(traits);
    }
    // What was claimed has permits.
    if (traits.permits !== null && claimed.length > 0 && this.#chance() < MEANWHILE.clear) {
      this.#calls.once(scenario.distance * this.#chance(), traits, (producer) => producer.clear(queue));
    }
    const isTransfer = call === 'transfer' || (call === 'transferAndClaim' && result !== undefined);
    if (!isTransfer) return;
    // A family that finds nothing leaves, and only an announcement brings it back in time.
    const { ready } = 'report' in (result as object) ? (result as ClaimedTransfer).report : (result as TransferReport);
    const hasFound = claimed.length > 0 || ready > 0;
    if (traits.kind === 'tenant' && !hasFound && this.#chance() < MEANWHILE.offer) this.#offerMeanwhile(traits);
  }

  #abortMeanwhile(traits: QueueTraits, messages: ClaimReport['messages']): void {
    const { scenario, conductOf } = this.options;
    for (const { id } of messages) {
      const number = numberOf(id);
      if (number >= FIRST_RULE || conductOf(number).takes <= LONG || this.#chance() > MEANWHILE.abort) continue;
      this.#calls.once(scenario.distance * this.#chance(), traits, (producer) => producer.abort(traits.name, id));
    }
  }

  #changeMeanwhile(traits: QueueTraits, id: string, found: StoredMessage | null): void {
    if (found?.state !== 'delayed' || this.#changing.has(id) || this.#chance() > MEANWHILE.change) return;
    // This change looks for the message, too.
    this.#changing.add(id);
    this.options.world.after(MAX_CHANGE, () => this.#changing.delete(id));
    const headers = { change: String(Math.floor(1e6 * this.#chance())) };
    const delay = Math.floor(MAX_DELAY_MEANWHILE * this.#chance());
    this.#calls.once(0, traits, (producer) => producer.reschedule(traits.name, id, delay, { headers }));
  }

  #offerMeanwhile(traits: QueueTraits): void {
    const running = this.#calls.choose();
    if (!running) return;
    const number = this.offered++;
    this.#calls.run(running, () => this.#offerTo(traits, running, [number], { longest: MAX_DELAY_MEANWHILE }));
  }

  #offerMany(running: Running, numbers: readonly number[]): void {
    const { world, scenario, conductOf, messages } = this.options;
    const isBusy = scenario.isBusyAt(numbers[0]!);
    const [first] = numbers as [number];
    const isCrowd = !isBusy && [first, first + 1].every((each) => conductOf(each).takes > SLOW);
    const queues = isBusy ? this.#busy : this.#quiet;
    const drawn = isCrowd ? this.#drawQueueOfCrowd() : queues.draw(this.#chance);
    // Nobody else joins a crowd.
    const isTaken = !isBusy && !isCrowd && drawn.kind === 'batches' && world.now < this.#nextCrowdAt;
    const traits = isTaken ? drawQueue(this.#chance, scenario.queues, 'batches') : drawn;
    if (!isCrowd || traits.kind !== 'batches') {
      return this.#offerTo(traits, running, numbers, { longest: scenario.maxDelay, isCrowd });
    }
    const longest = Math.min(scenario.maxDelay, MAX_DELAY_OF_CROWD);
    this.#nextCrowdAt = world.now + longest + CROWD_LASTS;
    // As many as fit into a process: others that wait outside would come in when a call ends, and make up for what it has forgotten.
    const most = Math.min(traits.capacity, MAX_CROWD);
    const count = integer(this.#chance, Math.min(most, singlesOf(traits) + batchOf(traits) + 1), most);
    const crowd = numbers.slice(0, count);
    while (crowd.length < count && this.offered < messages) crowd.push(this.offered++);
    this.#offerTo(traits, running, crowd, { longest, isCrowd });
    if (numbers.length > count) this.#offerMany(running, numbers.slice(count));
  }

  /** Offers many messages to a queue at once, in a quiet phase. */
  #offerAtOnce(traits: QueueTraits, count: number): void {
    const { scenario, messages } = this.options;
    const running = this.#calls.choose();
    if (!running || this.offered + count > messages || scenario.isBusyAt(this.offered)) return;
    const numbers = Array.from({ length: count }, (_, i) => this.offered + i);
    this.offered += count;
    this.#calls.run(running, () => this.#offerTo(traits, running, numbers, { longest: 1 }));
  }

  /**
   * Messages that take their time meet in one queue, so that all of its slots are in use; most often in one with batches, where one crowd
   * comes after the other.
   */
  #drawQueueOfCrowd(): QueueTraits {
    const { world, scenario } = this.options;
    const batches = scenario.queues.find(({ kind }) => kind === 'batches');
    if (!batches || world.now < this.#nextCrowdAt) return drawQueue(this.#chance, scenario.queues, 'batches');
    return this.#chance() < 0.8 ? batches : drawQueue(this.#chance, scenario.queues);
  }

  /** Offers messages to one queue, with one call. */
  #offerTo(
    traits: QueueTraits,
    running: Running,
    numbers: readonly number[],
    { longest, isCrowd = false }: { readonly longest: number; readonly isCrowd?: boolean },
  ): void {
    const { scenario, oracle } = this.options;
    const draw = this.#chance;
    const isBusy = scenario.isBusyAt(numbers[0]!);
    const drawDelay = () => Math.floor(draw() ** 2 * longest);
    // Messages that are due at the same instant are transferred, claimed and settled together; those due soon after each other meet in
    // the process: the first are at work when the others come.
    const common = drawDelay();
    const kind = draw();
    const areTogether = kind < (isBusy ? 0.99 : isCrowd ? 0.1 : 0.6);
    const areNear = !isBusy && kind < 0.8;
    // The first of a crowd take a call each, before the others come: more than a full batch.
    const isStaggered = isCrowd && !areTogether && kind < 0.7;
    const step = traits.batchWait + STAGGER;
    const delayOf = (i: number) => {
      if (isStaggered) return common + step * Math.min(i, singlesOf(traits));
      return areTogether ? common : areNear ? common + Math.floor(draw() * NEAR) : drawDelay();
    };
    const offers = numbers.map((number, i) => {
      const group = traits.permits === null ? undefined : `g${integer(draw, 0, scenario.groups - 1)}`;
      const delay = delayOf(i);
      const type = traits.kind === 'typed' ? { type: TYPES[releaseFor(number, scenario)] } : {};
      const attempts = ownAttemptsOf(number);
      const own = { ...(group !== undefined && { group }), ...(attempts !== undefined && { attempts }) };
      return { id: `m${number}`, payload: number, delay, ...type, ...own };
    });
    const call = (producer: DelayQueueProducer): Promise<unknown> => {
      const [first] = offers as [(typeof offers)[number]];
      const { payload, delay, ...options } = first;
      return offers.length > 1
        ? producer.offerMany(traits.name, offers)
        : producer.offer(traits.name, payload, delay, options);
    };
    this.#calls.repeat(running, call, traits).then(
      () => {
        for (const { id, ...offer } of offers) {
          if (!oracle.knows(id)) oracle.violate('acknowledged', id, 'but never written');
          this.#changeOne(traits, id, offer);
        }
      },
      () => undefined,
    );
  }

  /** Some messages are cancelled, moved, replaced, followed or aborted, when that races with their transfer or handler. */
  #changeOne(
    traits: QueueTraits,
    id: string,
    { group, type, delay }: { group?: string; type?: string; delay: number },
  ): void {
    const draw = this.#chance;
    const { scenario, conductOf } = this.options;
    const number = Number(id.slice(1));
    const { takes, end } = conductOf(number);
    if (takes > LONG && draw() < 0.6) {
      // While its claim is under way, or later.
      const after = draw() < 0.7 ? scenario.distance * draw() : takes * draw();
      return this.#calls.once(delay + after, traits, (producer) => producer.abort(traits.name, id));
    }
    if (end === 'throw' && draw() < 0.2) {
      const later = Math.floor(scenario.retryDelay * draw());
      const payload = { payload: number };
      // It waits for its retry.
      return this.#calls.once(delay + takes + scenario.retryDelay * draw(), traits, (producer) =>
        producer.reschedule(traits.name, id, later, payload),
      );
    }
    if (keepsIds(traits, scenario)) this.#offerHandled(traits, id, { group, after: delay + takes });
    const attempts = ownAttemptsOf(number);
    const kept = {
      ...(group !== undefined && { group }),
      ...(type !== undefined && { type }),
      ...(attempts !== undefined && { attempts }),
    };
    if (takes > SLOW && draw() < (end === 'reject' ? 0.5 : 0.1)) {
      // It is being handled.
      const follow = { id, onDuplicate: 'follow', ...kept } as const;
      return this.#calls.once(delay + takes * draw(), traits, (producer) =>
        producer.offer(traits.name, number, Math.floor(2000 * draw()), follow),
      );
    }
    if (draw() > (scenario.isBusyAt(number) ? 0.02 : 0.3)) return;
    const kind = draw();
    const later = Math.floor(2000 * draw());
    this.#calls.once(delay * (0.5 + draw() / 1.8) + 10 * draw(), traits, (producer): Promise<unknown> => {
      if (kind < 0.25) return this.#findDelayed(id, producer.cancel(traits.name, id));
      if (kind < 0.45) return this.#findDelayed(id, producer.reschedule(traits.name, id, later));
      if (kind < 0.55) {
        return this.#findDelayed(id, producer.reschedule(traits.name, id, later, { payload: number }));
      }
      if (kind < 0.65) return producer.abort(traits.name, id);
      const onDuplicate = kind < 0.8 ? 'replace' : kind < 0.9 ? 'follow' : 'keep';
      const debounce = kind < 0.72 && { maxWait: MAX_WAIT };
      return producer.offer(traits.name, number, later, { id, onDuplicate, ...kept, ...debounce });
    });
  }

  /** Offers some messages again when they have probably been handled, and frees the ids of a few before. */
  #offerHandled(traits: QueueTraits, id: string, { group, after }: { group: string | undefined; after: number }): void {
    const draw = this.#chance;
    const number = Number(id.slice(1));
    if (draw() > (this.options.scenario.isBusyAt(number) ? 0.1 : 0.3)) return;
    const later = after + 1.5 * draw() * this.options.scenario.idsFor!.for;
    if (draw() < 0.1) this.#calls.once(later * draw(), traits, (producer) => producer.freeId(traits.name, id));
    const onDuplicate = pick(draw, ['keep', 'replace', 'reject']);
    const attempts = ownAttemptsOf(number);
    const own = { ...(group !== undefined && { group }), ...(attempts !== undefined && { attempts }) };
    const again = { id, onDuplicate, ...own };
    this.#calls.once(later, traits, async (producer) => {
      // At the end, everybody waits until the queues are empty.
      if (this.offered < this.options.messages) await producer.offer(traits.name, number, 0, again);
    });
  }

  /** Whoever looks for a message that is delayed all the time finds it. */
  async #findDelayed(id: string, call: Promise<boolean>): Promise<void> {
    const { oracle, time } = this.options;
    const before = oracle.life(id);
    const wasDelayed = before?.isDelayed(time());
    const starts = before?.starts;
    const isFound = await call;
    if (!before || !wasDelayed || isFound || oracle.life(id) !== before || before.starts !== starts) return;
    if (before.isDelayed(time())) {
      oracle.violate('found', id, 'is delayed, and yet is not there for whoever cancels or moves it');
    }
  }
}
