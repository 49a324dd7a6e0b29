import type { Scenario } from '../applications/scenario.js';
import { type Aim, CALL_FAULTS, type CallFault, type CallTrouble, type Link } from '../network/link.js';
import { claimedBy, TRANSFERS } from '../network/remote-store.js';
import type { SimulatedServer } from '../network/server.js';
import type { Subscriptions } from '../network/subscriptions.js';
import type { Journal } from '../oracle/journal.js';
import type { Concern } from '../oracle/member.js';
import type { Oracle } from '../oracle/oracle.js';
import { between, type Chance, integer, pick } from '../world/chance.js';
import type { SimulatedProcess } from '../world/simulated-process.js';
import type { World } from '../world/world.js';

export const FAULT_KINDS = [
  'calls',
  'lone call',
  'link cut',
  'subscription lost',
  'subscription silent',
  'waits silent',
  'killed',
  'replaced',
  'frozen',
  'suspended',
  'all cut',
  'all subscriptions lost',
  'all subscriptions silent',
  'false announcements',
  'clock step',
  'failover',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** What is drawn from: applications stop more often than anything breaks. */
const DRAWN_KINDS: readonly FaultKind[] = [...FAULT_KINDS, 'replaced', 'replaced'];

/** The shares of processes that are killed, or stop, with messages in hand. */
const IN_HAND = { killed: 0.5, replaced: 0.8 } as const;

/** One thing that goes wrong: planned before the run, so that each can be left out without a change to the others. */
export interface Fault {
  readonly number: number;
  readonly kind: FaultKind;
  /** ms of the world. */
  readonly at: number;
  /** ms. */
  readonly length: number;
  /** Which process, of those that are up then. */
  readonly place: number;
}

/** A process that something can happen to. */
export interface Victim {
  readonly process: SimulatedProcess;
  readonly link: Link;
  readonly subscriptions: Subscriptions;
  /** Ends it now; another one starts after `pause` ms. */
  kill(pause: number): void;
  /** Has it stop by itself, and starts another one. */
  replace(): void;
}

export interface NemesisOptions {
  readonly world: World;
  readonly server: SimulatedServer;
  readonly scenario: Scenario;
  readonly oracle: Oracle;
  readonly journal: Journal;
  readonly victims: () => readonly Victim[];
  /** True if the fault with this number does not happen. */
  readonly isLeftOut: (fault: number) => boolean;
  /** Called when the server has forgotten its last instants. */
  readonly onFailover: () => void;
  /** Undefined: all kinds. */
  readonly kinds: readonly FaultKind[] | undefined;
}

/** The length of a storm, ms. */
const STORM = 25_000;

/** How many faults come one at a time between two storms. */
const LONE_FAULTS = 8;

/** How long it takes until what a process has left behind is forgotten, and what other faults have done, ms. */
const CALM = 25_000;
const SHORT_CALM = 12_000;

/** How long after a lone fault calls alone go wrong, ms. */
const LONE_CALLS_AFTER = 6000;

/** How long after a lone call has gone wrong the next one does, ms: the effects of one hide from those of the next, or do not. */
const LONE_CALL_EVERY = [500, 1500] as const;

/** How long after the end of its lease a claim is answered that is answered at about that time, ms. */
const ABOUT_LEASE = [-60, 20] as const;

/** How long after the end of its lease the first handler of such a claim stops blocking the event loop, ms. */
const BLOCKED_ABOUT_LEASE = [-20, 40] as const;

/** How soon a lone extension fails at the latest, as a share of its lease. */
const QUICK_FAILURE = 0.2;

/** How long a fault waits for the call that it is aimed at, ms. */
const AIM_TIME = 5000;

/** How long after a claim a process that is to end with messages in hand ends at most, ms. */
const MAX_TIME_WITH_CLAIM = 200;

/** By how much the clock of the server is set at most, ms. */
const MAX_STEP = 15_000;

/** How far a replica lags behind at most, ms. */
const MAX_LAG = 1000;

/** How often a stranger announces something, ms. */
const FALSE_WORD_EVERY = 700;

/** The longest time for which a stranger announces things, ms: what they hide is to be found a check interval later, and some seconds. */
const misledFor = ({ checkInterval }: Scenario) => 2 * (checkInterval + 5000);

const CLAIMS = ['claim', 'transferAndClaim'] as const;

/** The faults of an answer: those that are lost are the hardest. */
const ANSWER_FAULTS = ['answer lost', 'answer lost', 'slow back'] as const;

/** What a lone fault aims at that is no call: the connection breaks when something is announced. */
const ANNOUNCEMENT = 'announcement';

/** The calls that a lone fault aims at. */
const AIMS = [
  ...([
    'settle',
    'settle',
    'claim',
    'claim',
    'transferAndClaim',
    'transferAndClaim',
    'transfer',
    'extend',
    'extend',
    'extend',
  ] as const),
  ...(['offer', 'wake', 'cancel', 'abort', ANNOUNCEMENT, ANNOUNCEMENT] as const),
] as const;

/** What it concerns if calls go wrong: announcements come another way. */
const OF_CALLS: readonly Concern[] = ['claims', 'leases'];

/** What it concerns if one call alone goes wrong; nothing, for the others. */
const OF_ONE_CALL: Readonly<Record<string, readonly Concern[]>> = {
  claim: OF_CALLS,
  transferAndClaim: OF_CALLS,
  transfer: ['claims'],
  wake: ['claims'],
  extend: ['leases'],
};

/** Whatever follows a slow call is slow as well; other faults concern the queue of the call alone. */
const concernsOf = (call: string, fault: CallFault) =>
  fault.startsWith('slow') ? OF_CALLS : (OF_ONE_CALL[call] ?? []);

/** How long after the end of a trouble with calls a process is well again, ms: loops pause up to 5 s after failures in a row. */
const MAX_PAUSE = 5000;

/** The pause after a first failure, the time for another attempt, and how soon after each other failures may be in a row, ms. */
const FIRST_PAUSE = 100;
const MAX_RETRY = 300;
const IN_A_ROW = 10_000;

/** How long it takes at most until a lost subscription is there again, and what was missed is found, ms. */
const RESUBSCRIPTION = 350;

/**
 * Lets things go wrong: many at once for a while, then one at a time, whose effects do not hide behind those of others, then nothing
 * at all.
 */
export class Nemesis {
  readonly counts: Record<string, number> = {};
  readonly happened: Fault[] = [];
  isOver = false;
  /** Those that end when they claim messages of a queue whose name begins like this. */
  readonly #doomed = new Map<SimulatedProcess, { readonly queue: string; readonly end: () => void }>();
  /** When lone faults last struck calls of each process and queue, ms of the world. */
  readonly #strikes = new Map<string, readonly number[]>();
  #number = 0;
  readonly #plan: Chance;

  constructor(private readonly options: NemesisOptions) {
    this.#plan = options.world.chance('plan of faults');
  }

  start(): void {
    if (this.#plan() < 0.5) this.#storm();
    else this.#lone();
  }

  /** A process has claimed messages of a queue, and does not know it yet. */
  claimed(process: SimulatedProcess, queue: string): void {
    const doom = this.#doomed.get(process);
    if (doom && queue.startsWith(doom.queue)) doom.end();
  }

  /** Nothing goes wrong from now on. */
  end(): void {
    this.isOver = true;
  }

  #storm(): void {
    const { now } = this.options.world;
    const end = now + STORM;
    for (let at = now + 1000; at < end; at += between(this.#plan, 100, 3000)) this.#arrange(at, 8000);
    this.options.world.at(end + CALM / 2, () => this.#lone());
  }

  /** Far apart, and so short that the effect of each is over before the next. */
  #lone(): void {
    const { now } = this.options.world;
    const withCalls = this.#plan() < 0.8;
    const every = pick(this.#plan, LONE_CALL_EVERY);
    let at = now + 3000;
    for (let i = 0; i < LONE_FAULTS; i++) {
      const [alone, calm] = this.#calmAfter(this.#arrange(at, 3000));
      const next = at + calm;
      for (at += alone; at < next; at += every) if (withCalls) this.#arrange(at, 3000, ['lone call']);
      at = next;
    }
    this.options.world.at(at + CALM, () => {
      if (!this.isOver) this.#storm();
    });
  }

  /** @returns how long after a lone fault calls alone may go wrong, and how long after it the next fault comes, ms */
  #calmAfter(fault: Fault | undefined): readonly [number, number] {
    if (fault?.kind === 'killed' || fault?.kind === 'replaced') return [LONE_CALLS_AFTER, CALM];
    if (fault?.kind !== 'false announcements') return [LONE_CALLS_AFTER, SHORT_CALM];
    // Whatever else goes wrong has processes look, which brings out what the announcements hide.
    const calm = fault.length + this.options.scenario.checkInterval;
    return [calm, Math.max(calm, SHORT_CALM)];
  }

  /** @returns undefined if there is none */
  #arrange(at: number, longest: number, given = this.options.kinds ?? DRAWN_KINDS): Fault | undefined {
    const number = this.#number++;
    const chance = this.options.world.chance(`fault ${number}`);
    const { isLeftOut, scenario } = this.options;
    const isPossible = { 'clock step': scenario.stepsClock, failover: scenario.failsOver };
    const kinds = given.filter((kind) => isPossible[kind as keyof typeof isPossible] ?? true);
    if (kinds.length === 0) return undefined;
    const kind = kinds[Math.floor(chance() * kinds.length)]!;
    // Handlers must notice that a lease has ended meanwhile.
    const isLong = (kind === 'frozen' || kind === 'suspended' || kind === 'link cut') && chance() < 0.4;
    const span = kind === 'false announcements' ? misledFor(scenario) : isLong ? 2.5 * scenario.lease : undefined;
    const length = span === undefined ? chance() ** 2 * longest : span * chance();
    const fault: Fault = { number, at, kind, length, place: integer(chance, 0, 1000) };
    if (!isLeftOut(number)) this.options.world.at(at, () => this.#happen(fault, chance));
    return fault;
  }

  #happen(fault: Fault, chance: Chance): void {
    const victims = this.options.victims();
    const victim = victims[fault.place % Math.max(1, victims.length)];
    if (this.isOver || !victim) return;
    const { kind, length } = fault;
    const { world, server, scenario, oracle, journal } = this.options;
    const { process, link, subscriptions } = victim;
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    this.happened.push(fault);
    journal.write?.(`fault ${fault.number}: ${kind}, ${process.name}, ${Math.round(length)} ms`);
    journal.digestOf(5, fault.number);
    const troubled = (aftermath: number, who = process) => oracle.troubled(who, world.now + length + aftermath);
    const isDeaf = (ms: number, who = process) =>
      oracle.troubled(who, world.now + ms + RESUBSCRIPTION, { isExact: true });
    switch (kind) {
      case 'calls':
        return this.#troubleCalls(
          victim,
          { chance, share: between(chance, 0.01, 0.3), aim: undefined, delay: undefined },
          length,
        );
      case 'lone call':
        return this.#troubleOneCall(victim, chance);
      case 'link cut':
        link.cut(length);
        return troubled(this.#recovery(length));
      case 'all cut':
        for (const each of victims) {
          each.link.cut(length);
          troubled(this.#recovery(length), each.process);
        }
        return undefined;
      case 'subscription lost':
        subscriptions.lose();
        return isDeaf(0);
      case 'all subscriptions lost':
        for (const each of victims) {
          each.subscriptions.lose();
          isDeaf(0, each.process);
        }
        return undefined;
      case 'all subscriptions silent':
        for (const each of victims) {
          each.subscriptions.silence(length);
          isDeaf(length, each.process);
        }
        return undefined;
      case 'subscription silent':
        subscriptions.silence(length);
        return isDeaf(length);
      case 'waits silent':
        link.silenceWaits(length);
        return troubled(this.options.scenario.blockTimeout + MAX_PAUSE + 200);
      case 'killed':
        return this.#kill(victim, chance);
      case 'replaced':
        return this.#replace(victim, chance);
      case 'frozen':
        process.freeze(length);
        return oracle.troubled(process, process.busyUntil + 100);
      case 'suspended':
        process.suspend(length);
        // What it has planned before comes late by as much, unless its next check finds it.
        return oracle.troubled(process, process.busyUntil + scenario.checkInterval + 100);
      case 'clock step': {
        const by = Math.round(MAX_STEP * chance() ** 2) * (chance() < 0.5 ? 1 : -1);
        server.stepClock(by);
        return oracle.stepped(by);
      }
      case 'failover':
        if ((this.counts.failover ?? 0) > 1) return undefined;
        server.stopReplicating();
        return void world.after(MAX_LAG * chance(), this.#failOver(length));
      case 'false announcements':
        oracle.misled(world.now + length);
        return this.#mislead(world.now + length, chance);
    }
  }

  #kill(victim: Victim, chance: Chance): void {
    const pause = chance() < 0.2 ? between(chance, 20_000, 60_000) : between(chance, 0, 5000);
    const after = MAX_TIME_WITH_CLAIM * chance();
    this.#end(victim, chance, { after, share: IN_HAND.killed, end: () => victim.kill(pause) });
  }

  #replace(victim: Victim, chance: Chance): void {
    // What is claimed is released if the answer comes after the process has begun to stop.
    const after = chance() < 0.7 ? 0 : MAX_TIME_WITH_CLAIM * chance();
    this.#end(victim, chance, { after, share: IN_HAND.replaced, end: () => victim.replace() });
  }

  /** Ends a process: a share of them with messages in hand, so many ms after a claim. */
  #end(
    victim: Victim,
    chance: Chance,
    { after, share, end }: { readonly after: number; readonly share: number; readonly end: () => void },
  ): void {
    const { world, victims } = this.options;
    const { process } = victim;
    const queue = this.#drawQueue(chance);
    if (chance() >= share) return end();
    const endIfUp = () => {
      if (this.#doomed.delete(process) && victims().includes(victim) && !this.isOver) end();
    };
    this.#doomed.set(process, { queue, end: () => void world.after(after, endIfUp) });
    world.after(AIM_TIME, endIfUp);
  }

  /** The beginning of a queue's name: each kind is as likely, however few messages it gets. */
  #drawQueue(chance: Chance): string {
    const kinds = new Set(this.options.scenario.queues.map(({ kind }) => kind));
    return pick(chance, [...kinds] as [string]);
  }

  /** The replica takes the place of the server, without what has happened since now. */
  #failOver(length: number): () => void {
    const { world, server, oracle, victims, onFailover } = this.options;
    const forget = oracle.beforeLoss();
    return () => {
      server.failOver();
      const until = world.now + length + this.#recovery(length);
      for (const { link, process } of victims()) {
        link.cut(length);
        oracle.troubled(process, until);
      }
      forget(until);
      onFailover();
    };
  }

  /** Somebody who shares the channel says that all is done, and that nothing is to come. */
  #mislead(until: number, chance: Chance): void {
    const { world, victims, server } = this.options;
    if (world.now > until || this.isOver) return;
    const at = Math.floor(server.time + between(chance, -500, 500));
    const nextIn = chance() < 0.5 ? null : 1e7 * chance();
    const nextAt = nextIn === null ? null : at + nextIn;
    const word = { scheduler: 'stranger', movedAt: at, at, ready: 0, nextIn, nextAt };
    for (const { subscriptions } of victims()) subscriptions.hear(word);
    world.after(FALSE_WORD_EVERY * chance(), () => this.#mislead(until, chance));
  }

  /** After calls have failed for a while, the pauses between attempts are as long. */
  #recovery(length: number): number {
    return this.options.scenario.callTimeout + Math.min(MAX_PAUSE, 400 + length);
  }

  #troubleCalls({ link, process }: Victim, trouble: Omit<CallTrouble, 'faults' | 'onStrike'>, length: number): void {
    const { world, oracle } = this.options;
    oracle.troubled(process, world.now + length + this.#recovery(length), { concerns: OF_CALLS });
    const running: CallTrouble = {
      ...{ ...trouble, faults: CALL_FAULTS },
      onStrike: (call, fault, until) => {
        this.#strike(process, call, fault);
        oracle.troubled(process, until + this.#recovery(length), { concerns: OF_CALLS });
      },
    };
    link.troubles.add(running);
    world.after(length, () => link.troubles.delete(running));
  }

  /** A single call goes wrong, the next one of its kind. */
  #troubleOneCall(victim: Victim, chance: Chance): void {
    const { link, process } = victim;
    const { oracle, world, scenario } = this.options;
    // Some claims are answered about when their leases end.
    const aboutLease = scenario.lease + between(chance, ...ABOUT_LEASE);
    const isAboutLease = chance() < 0.25 && aboutLease < scenario.callTimeout;
    const call = isAboutLease ? CLAIMS[0] : pick(chance, AIMS);
    const isClaim = CLAIMS.some((each) => each === call);
    // Most claims find nothing, so that most faults of claims would not matter.
    const hasFound = isAboutLease || (isClaim && chance() < 0.6);
    // Behind the first of several, which blocks the event loop, the others may wait until their lease ends.
    const blocksFor = Math.max(0, scenario.lease - aboutLease + between(chance, ...BLOCKED_ABOUT_LEASE));
    const fewest = isAboutLease ? 2 : 1;
    const isWorthIt = (name: string, result: unknown) => claimedBy({ call: name, result }).length >= fewest;
    // Nobody but a family has a worker for each look, which may be gone before its claim is answered.
    const isOfFamily = hasFound && chance() < 0.3;
    const queue = isOfFamily ? 'tenant' : chance() < 0.5 ? this.#drawQueue(chance) : undefined;
    // Nobody relies on announcements as much as families do.
    if (call === ANNOUNCEMENT) {
      const deaf = chance() < 0.4 ? this.options.victims() : [victim];
      return this.#loseAnnouncement(deaf, chance() < 0.5 ? 'tenant' : queue);
    }
    const aim: Aim = hasFound ? { calls: CLAIMS, queue, isWorthIt } : { calls: [call], queue };
    // A failed extension leaves enough of the lease to make it again.
    const delay = isAboutLease ? aboutLease : call === 'extend' ? scenario.lease * QUICK_FAILURE * chance() : undefined;
    // What has happened and is not known is the hardest.
    const fault = hasFound ? pick(chance, ANSWER_FAULTS) : pick(chance, [...ANSWER_FAULTS, ...CALL_FAULTS]);
    const faults: [CallFault] = [isAboutLease ? 'slow back' : fault];
    const running: CallTrouble = {
      ...{ chance, share: 1, faults, aim, delay },
      onStrike: (call, fault, until, of) => {
        link.troubles.delete(running);
        this.#strike(process, call, fault);
        if (isAboutLease) world.at(until, () => (process.nextHandlerSpins = blocksFor));
        // What is missed meanwhile is found by a look that has to wait for this answer.
        if (fault === 'slow back' && TRANSFERS.includes(call)) this.#loseAnnouncement([victim], of);
        // A failed extension is soon made again: that belongs to what is promised.
        const pause = call === 'extend' ? 0 : this.#pauseAfterStrike(process, of);
        const concerned = fault.startsWith('slow') ? undefined : of;
        oracle.troubled(process, until + pause, {
          concerns: concernsOf(call, fault),
          isExact: true,
          queue: concerned,
        });
      },
    };
    link.troubles.add(running);
    world.after(AIM_TIME, () => link.troubles.delete(running));
  }

  #loseAnnouncement(deaf: readonly Victim[], queue: string | undefined): void {
    const { oracle, world } = this.options;
    for (const { process, subscriptions } of deaf) {
      const callOff = subscriptions.loseNext(queue, () => {
        this.#strike(process, ANNOUNCEMENT, 'lost');
        oracle.troubled(process, world.now + RESUBSCRIPTION, { isExact: true });
      });
      world.after(AIM_TIME, callOff);
    }
  }

  /** The time that a process takes at most to make a call again that has failed: pauses double with each failure in a row. */
  #pauseAfterStrike({ name }: SimulatedProcess, queue: string | undefined): number {
    const { now } = this.options.world;
    const key = `${name} ${queue}`;
    const strikes = (this.#strikes.get(key) ?? []).filter((at) => at > now - IN_A_ROW);
    this.#strikes.set(key, [...strikes, now]);
    return Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** strikes.length) + MAX_RETRY;
  }

  #strike(process: SimulatedProcess, call: string, fault: CallFault | 'lost'): void {
    const name = `${call} ${fault}`;
    this.counts[name] = (this.counts[name] ?? 0) + 1;
    this.options.journal.write?.(`${process.name} ${name}`);
  }
}
