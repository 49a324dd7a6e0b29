import { inhabit } from './world/host.js';
import { type Application, startApplication } from './applications/application.js';
import { Conducts } from './applications/conduct.js';
import { drawScenario, type Scenario } from './applications/scenario.js';
import { type FaultKind, Nemesis, type Victim } from './nemesis/nemesis.js';
import { Link } from './network/link.js';
import { claimedBy } from './network/remote-store.js';
import { SimulatedServer } from './network/server.js';
import { Subscriptions } from './network/subscriptions.js';
import { CapacityProbe } from './oracle/capacity-probe.js';
import type { Journal } from './oracle/journal.js';
import { Oracle, type Violation } from './oracle/oracle.js';
import { FIRST_RULE } from './workload/rules.js';
import { Workload } from './workload/workload.js';
import { SimulatedProcess } from './world/simulated-process.js';
import { World } from './world/world.js';

export interface SimulationOptions {
  readonly seed: string;
  readonly messages: number;
  /** Undefined: drawn. */
  readonly processes: number | undefined;
  /** True if there are no busy phases. */
  readonly isQuiet: boolean;
  readonly faults: boolean;
  readonly kinds: readonly FaultKind[] | undefined;
  /** True if the fault with this number does not happen. */
  readonly isLeftOut: (fault: number) => boolean;
  /** The journal that everything is written to. */
  readonly openJournal: (world: World) => Journal;
  /** True if it goes on after a violation. */
  readonly goesOn: boolean;
  /** Called every few thousand events. */
  readonly onProgress: (virtualTime: number, lives: number) => void;
}

export interface SimulationResult {
  readonly digest: string;
  readonly violations: readonly Violation[];
  readonly lives: number;
  readonly events: number;
  /** ms of the world. */
  readonly virtualTime: number;
  readonly starts: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly faultNumbers: readonly number[];
  readonly scenario: Scenario;
  /** The number of messages that were offered. */
  readonly offered: number;
}

/** The number of events between two reports of progress. */
const PROGRESS = 4096;

/** How long after the last offer faults go on, and how long everything may take then, ms. */
const LAST_FAULTS = 10_000;

/** How long after a process the next one is replaced, ms. */
const DEPLOYED_EVERY = 4000;

interface Place extends Victim {
  application: Application | undefined;
}

/** One run: some processes, a server, a network, what is offered, and what goes wrong. */
export class Simulation {
  readonly #world: World;
  readonly #scenario: Scenario;
  readonly #server: SimulatedServer;
  readonly #journal: Journal;
  readonly #oracle: Oracle;
  readonly #nemesis: Nemesis;
  readonly #workload: Workload;
  readonly #places: Place[] = [];
  /** How many places, from the first on, have the next release. */
  #deployed = 0;
  #probe: CapacityProbe | undefined;
  #starts = 0;
  #isOver = false;

  constructor(private readonly options: SimulationOptions) {
    const { seed, messages, kinds, isLeftOut, openJournal } = options;
    const world = (this.#world = new World(seed));
    inhabit(world);
    const scenario = (this.#scenario = drawScenario(world.chance('scenario'), options));
    const server = (this.#server = new SimulatedServer(world, scenario.failsOver));
    const journal = (this.#journal = openJournal(world));
    const conducts = new Conducts(Math.floor(world.chance('conduct')() * 2 ** 31), scenario);
    const conduct = (message: number, starts: number) =>
      message < messages || message >= FIRST_RULE ? conducts.of(message, starts) : this.#probe!.start();
    const oracle = (this.#oracle = new Oracle({ world, server, scenario, journal, conductOf: conduct }));
    const victims = () => this.#places.filter(({ application, process }) => application && !process.isDead);
    const onFailover = () => this.#workload.administrator.resumeAll();
    const parts = { world, server, scenario, oracle, journal, victims, onFailover } as const;
    this.#nemesis = new Nemesis({ ...parts, isLeftOut, kinds });
    this.#workload = new Workload({
      ...{ world, scenario, oracle, messages, time: () => server.time, isReplicating: () => server.isReplicating },
      conductOf: (message) => conducts.of(message, 0),
      deploy: () => {
        if (this.#deployed === 0) this.#deployNext();
      },
      choose: (chance) => {
        const up = victims();
        const place = up[Math.floor(chance() * up.length)];
        return place && { process: place.process, application: place.application! };
      },
    });
  }

  run(): SimulationResult {
    const world = this.#world;
    for (let place = 0; place < this.#scenario.processes; place++) this.#start(place);
    world.at(2000, () => this.#workload.start());
    if (this.options.faults) world.at(3000, () => this.#nemesis.start());
    world.at(1000, () => this.#watch(Infinity));
    while (!this.#isOver && world.step()) {
      if (this.#oracle.violations.length > 0 && !this.options.goesOn) break;
      if (world.events % PROGRESS === 0) this.options.onProgress(world.now, this.#lives);
    }
    return this.#result();
  }

  #start(place: number): void {
    const world = this.#world;
    const scenario = this.#scenario;
    const process = new SimulatedProcess(world, this.#starts++);
    const link = new Link(process, scenario);
    const subscriptions = new Subscriptions(link);
    const oracle = this.#oracle;
    const release = place < this.#deployed ? 1 : 0;
    const member = oracle.join(process, release);
    const end = () => {
      process.kill();
      oracle.leave(member);
    };
    const running: Place = {
      ...{ process, link, subscriptions, application: undefined },
      kill: (pause) => {
        end();
        world.after(pause, () => this.#start(place));
      },
      replace: () => {
        const { application } = running;
        running.application = undefined;
        const limit = scenario.shutdownTimeout + scenario.callTimeout + 10_000;
        oracle.stop(member);
        const next = () => {
          if (process.isDead) return;
          end();
          this.#start(place);
        };
        const { wellFrom } = member;
        world.at(world.now, () => void application!.close().then(() => world.at(world.now, next)), process);
        world.at(Math.max(world.now, wellFrom) + limit, () => {
          if (!process.isDead && member.wellFrom === wellFrom)
            oracle.violate('stops in time', process.name, `does not stop within ${limit} ms`);
          next();
        });
      },
    };
    this.#places[place] = running;
    const parts = { process, release, scenario, link, subscriptions } as const;
    const start = () =>
      startApplication({
        ...parts,
        server: this.#server,
        onEffect: (effect) => {
          oracle.effect(member, effect);
          this.#workload.meanwhile(effect);
          if (claimedBy(effect).length > 0) this.#nemesis.claimed(process, effect.queue);
        },
        onTransferAnswered: (of, report) => oracle.answered(of, report),
        onLimits: {
          set: (queue, limits) => oracle.limited(queue, limits),
          announced: (queue) => oracle.limitsAnnounced(queue),
        },
        onCall: (messages) => oracle.called(messages, member),
        onRegistered: (queue) => oracle.registered(queue),
        onMixed: (id) => oracle.violate('groups', id, 'one call has messages of several groups'),
        onEvent: (name, fields) => this.#journal.write?.(`${process.name} ${name} ${JSON.stringify(fields)}`),
      }).then(
        (application) => {
          running.application = application;
          member.servesSince = world.now + 50;
        },
        (error: unknown) => oracle.violate('starts', process.name, String(error)),
      );
    world.at(world.now, () => void start(), process);
  }

  /** One process after the other. Those that are down, or stop already, come back with the next release. */
  #deployNext(): void {
    const { application, process, replace } = this.#places[this.#deployed++]!;
    if (application && !process.isDead) replace();
    if (this.#deployed < this.#places.length) this.#world.after(DEPLOYED_EVERY, () => this.#deployNext());
  }

  /** Looks after the run from time to time. */
  #watch(drainedBy: number): void {
    const world = this.#world;
    this.#oracle.forget();
    this.#oracle.judgeHeld();
    const { maxDelay, callTimeout, lease, checkInterval } = this.#scenario;
    let limit = drainedBy;
    if (limit === Infinity && this.#workload.offered >= this.options.messages) {
      world.after(this.options.faults ? LAST_FAULTS : 0, () => this.#nemesis.end());
      limit = world.now + LAST_FAULTS + 2 * maxDelay + 10 * callTimeout + 6 * lease + 2 * checkInterval + 120_000;
    }
    if (this.#workload.isDone && this.#oracle.isIdle && this.#nemesis.isOver && this.#isUp)
      return this.#probeCapacity();
    if (world.now > limit) {
      this.#isOver = true;
      return this.#oracle.finish();
    }
    world.after(1000, () => this.#watch(limit));
  }

  get #lives(): number {
    return this.#oracle.counts['offer created'] ?? 0;
  }

  /** True if all processes run and reach the server. One may be frozen, or cut off, for longer than the others need to drain the queues. */
  get #isUp(): boolean {
    const { now } = this.#world;
    return this.#places.every(
      ({ application, process, link }) => application && !process.isDead && process.busyUntil <= now && !link.isDown,
    );
  }

  /** The last look: whether every slot and permit can still be used. */
  #probeCapacity(): void {
    const running = this.#places.flatMap(({ process, application }) => (application ? [{ process, application }] : []));
    const world = this.#world;
    const parts = { world, scenario: this.#scenario, oracle: this.#oracle, running };
    this.#probe = new CapacityProbe({ ...parts, firstNumber: this.options.messages });
    void this.#probe.run().then(() => {
      this.#oracle.finish();
      this.#isOver = true;
    });
  }

  #result(): SimulationResult {
    const oracle = this.#oracle;
    return {
      ...{ digest: this.#journal.digest, violations: oracle.violations, lives: this.#lives },
      ...{ events: this.#world.events, virtualTime: this.#world.now, starts: this.#starts, counts: oracle.counts },
      ...{ faults: this.#nemesis.counts, faultNumbers: this.#nemesis.happened.map(({ number }) => number) },
      ...{ scenario: this.#scenario, offered: this.#workload.offered },
    };
  }
}
