import { PAUSED_UNTIL } from '../../../lib/message/repeat-rule.js';
import { instantOf } from '../../../lib/store/memory/memory-queue.js';
import type { QueueTraits, Scenario } from '../applications/scenario.js';
import type { ServedStore } from '../network/served-store.js';
import type { SimulatedServer } from '../network/server.js';
import type { World } from '../world/world.js';
import type { LossReason } from './delivery.js';
import type { GroupUse } from './group-use.js';
import { type Life, type LifeEnd, MEMORY } from './life.js';
import { LimitsUse } from './limits-use.js';
import { QueueUse } from './queue-use.js';

/** What the server has of each message, as far as the calls that took effect tell. It judges nothing. */
export class Ledger {
  readonly counts: Record<string, number> = {};
  /** Those in queues, and those that have ended a while ago; dead letters stay. */
  readonly lives = new Map<string, Life>();
  /** The number of messages that are in queues. */
  inQueues = 0;
  readonly #queues = new Map<ServedStore, QueueUse>();
  readonly #traits: ReadonlyMap<string, QueueTraits>;
  readonly #limits: ReadonlyMap<string, LimitsUse>;
  /** The ended lives, oldest first. */
  #ended = new Set<Life>();

  constructor(
    private readonly world: World,
    private readonly server: SimulatedServer,
    scenario: Scenario,
  ) {
    this.#traits = new Map(scenario.queues.map((traits) => [traits.name, traits]));
    this.#limits = new Map(scenario.queues.map((traits) => [traits.name, new LimitsUse(traits, scenario)]));
  }

  /** @param name - of the queue that the store has, or has a part of */
  queueOf(store: ServedStore, name: string): QueueUse {
    let queue = this.#queues.get(store);
    if (!queue) {
      queue = new QueueUse(this.#traits.get(name)!, store, this.limitsOf(name));
      this.#queues.set(store, queue);
    }
    return queue;
  }

  limitsOf(name: string): LimitsUse {
    return this.#limits.get(name)!;
  }

  queues(): Iterable<QueueUse> {
    return this.#queues.values();
  }

  /** The groups of a queue that have had messages. */
  groupsOf(name: string): GroupUse[] {
    return [...this.#queues.values()].flatMap(({ traits, groups }) =>
      traits.name === name ? [...groups.values()] : [],
    );
  }

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** A message is in its queue; it takes the place of another one of this id. */
  add(life: Life, known: Life | undefined): void {
    if (known) {
      if (!known.end) this.lose(known, 'replaced');
      this.releasePermit(known);
      life.starts = known.starts;
      life.deliveries = known.deliveries;
      known.group?.waiting.delete(known);
    }
    if (!known || known.end) this.inQueues++;
    if (known?.end) this.#ended.delete(known);
    this.lives.set(life.id, life);
    life.group?.waiting.add(life);
  }

  /** Its claim has ended. */
  lose(life: Life, reason: LossReason): void {
    const delivery = life.holder;
    if (!delivery) return;
    delivery.loss = reason;
    delivery.lostAt = this.world.now;
    life.holder = undefined;
    const { held, limits } = life.queue;
    if (held.size === limits.current.globalConcurrency) life.queue.roomSince = this.world.now;
    held.delete(life);
    // The process has never heard of it, or has let go of it itself.
    if (reason === 'claimed again' || reason === 'released') delivery.letGo(this.world.now);
  }

  releasePermit(life: Life): void {
    const { group } = life;
    if (!group || !life.hasPermit) return;
    life.hasPermit = false;
    if (group.used-- === group.permits) group.roomSince = this.world.now;
  }

  endOrFollow(life: Life, end: LifeEnd): void {
    const { follower } = life;
    this.releasePermit(life);
    if (!follower) return this.end(life, end);
    this.count('followed');
    life.follower = undefined;
    const due = life.isRulePaused ? PAUSED_UNTIL : instantOf(follower, this.server.time);
    life.renew(due, this.world.now);
  }

  end(life: Life, end: LifeEnd): void {
    this.count(end);
    this.releasePermit(life);
    life.follower = undefined;
    life.group?.waiting.delete(life);
    this.inQueues--;
    this.#addEnd(life, end);
  }

  /** A dead letter is removed. */
  discard(life: Life): void {
    if (life.end !== 'dead') return;
    this.#ended.delete(life);
    this.count('discarded');
    this.#addEnd(life, 'discarded');
  }

  /** A dead letter comes back. */
  redrive(life: Life, due: number): void {
    this.count('redriven');
    this.#ended.delete(life);
    life.end = undefined;
    this.inQueues++;
    life.renew(due, this.world.now);
  }

  /** Forgets what has ended long ago. */
  forget(): void {
    const since = this.world.now - MEMORY;
    for (const life of this.#ended) {
      if (life.endedAt > since) break;
      this.#ended.delete(life);
      // A dead letter may come back.
      if (this.lives.get(life.id) === life && life.end !== 'dead') this.lives.delete(life.id);
    }
  }

  /** Counts anew what is in queues, and what has ended. */
  recount(): void {
    const all = [...this.lives.values()];
    this.inQueues = all.filter(({ end }) => !end).length;
    this.#ended = new Set(all.filter(({ end }) => end).sort((one, other) => one.endedAt - other.endedAt));
  }

  #addEnd(life: Life, end: LifeEnd): void {
    life.end = end;
    life.endedAt = this.world.now;
    this.#ended.add(life);
  }
}
