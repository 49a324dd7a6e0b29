import type {
  Claim,
  ClaimReport,
  ClaimRequest,
  Handling as HandledOne,
  Outcome,
  Settlement,
  SettleReport,
  TransferReport,
} from '../../../lib/store/consumer-store.js';
import { type Scenario, WITH_HISTORY } from '../applications/scenario.js';
import type { Effect } from '../network/remote-store.js';
import type { SimulatedServer } from '../network/server.js';
import type { World } from '../world/world.js';
import { Delivery } from './delivery.js';
import type { Handling } from './handling.js';
import type { Journal } from './journal.js';
import type { KeptIdsUse } from './kept-ids-use.js';
import type { Ledger } from './ledger.js';
import type { Life } from './life.js';
import type { Member } from './member.js';
import type { Punctuality } from './punctuality.js';
import type { QueueUse } from './queue-use.js';
import type { RateUse } from './rate-use.js';
import type { RepeatUse } from './repeat-use.js';

export interface ConsumerCallsOptions {
  readonly world: World;
  readonly server: SimulatedServer;
  readonly scenario: Scenario;
  readonly journal: Journal;
  readonly ledger: Ledger;
  /** The processes that are there. */
  readonly members: ReadonlySet<Member>;
  readonly punctuality: Punctuality;
  readonly handling: Handling;
  readonly rateOfQueue: RateUse;
  readonly repeats: RepeatUse;
  readonly keptIds: KeptIdsUse;
  readonly violate: (promise: string, id: string, detail: string) => void;
}

type SentClaim = ClaimRequest & Pick<Effect, 'sentAt'>;

/** A process that is well for this share of a lease extends it, if not at the first attempt. */
const EXTENSION_TIME = 0.42;

/** Judges what consumers have claimed, kept and settled. */
export class ConsumerCalls {
  /** The ids of messages whose history has an entry, and that have not been settled since. */
  readonly #remembered = new Set<string>();

  constructor(private readonly options: ConsumerCallsOptions) {}

  claimed(member: Member, queue: QueueUse, request: SentClaim, { messages, more }: ClaimReport): void {
    const { token, supersedes, lease, sentAt } = request;
    const { journal, violate, repeats } = this.options;
    const { lives } = this.options.ledger;
    const again = supersedes === undefined ? undefined : this.#claimedAgain(queue, supersedes);
    const holding = member.holdingOf(queue.traits);
    for (const message of messages) {
      const { id } = message;
      const life = lives.get(id);
      if (!life) {
        violate('known', id, `claimed by ${member.process.name} after its end`);
        continue;
      }
      journal.digestOf(3, life.number);
      journal.write?.(`${id} claimed, token ${token}${supersedes === undefined ? '' : ` instead of ${supersedes}`}`);
      this.#judgeClaim(life, member, sentAt, again?.has(life) ?? false);
      life.wasClaimed = true;
      const times = { claimedAt: this.#now, leaseEnd: this.#now + lease, assumedEnd: sentAt + lease };
      life.holder = new Delivery(token, life, holding, times);
      queue.held.add(life);
      if (queue.traits.kind === 'repeats') repeats.claimed(life, life.holder, message);
    }
    // It has put off messages for the rate of their groups, and so has taken fewer than it could.
    if (more && queue.traits.groupRate) holding.claimsAgain(this.#now);
    // What there was no room for, others may claim from now on.
    for (const life of again ?? []) if (!life.holder) life.free(this.#now);
  }

  /** Returns the messages that the consumer already holds, although no answer has reported them. */
  #claimedAgain({ held }: QueueUse, token: string): Set<Life> {
    const again = new Set<Life>();
    for (const life of held) {
      const { token: heldBy, claimedAt } = life.holder!;
      if (heldBy !== token) continue;
      // Until then, it may have waited for the permit that it has now.
      life.freeSince = Math.max(life.freeSince, claimedAt);
      this.options.ledger.lose(life, 'claimed again');
      again.add(life);
      life.group?.waiting.add(life);
    }
    return again;
  }

  #judgeClaim(life: Life, member: Member, sentAt: number, isAgain: boolean): void {
    const { server, members, punctuality, violate } = this.options;
    const { id, queue, group } = life;
    // Nobody else could have claimed what it held already.
    const late = punctuality.judge(life, isAgain ? [member] : [...members], this.#now);
    if (late !== undefined) violate('on time', id, late);
    // Messages that are claimed again were counted before.
    this.#judgeLimits(life, member, sentAt, isAgain);
    if (queue.isPaused && !isAgain) violate('paused', id, `claimed though ${queue.traits.name} is paused`);
    if (!group) return;
    if (group.isPaused && !isAgain) violate('paused', id, `claimed though group ${group.name} is paused`);
    group.waiting.delete(life);
    if (life.hasPermit) return;
    // Who has kept its permit while it waited for its retry goes first.
    const overtaken = punctuality.hasStepped(this.#now) ? undefined : group.overtakenBy(life, server);
    if (overtaken) violate('order', id, `is claimed before ${overtaken.id}, of the same group`);
    life.hasPermit = true;
    group.used++; // A message that waits for the rate keeps its permit when there are fewer.
    if (group.used > (group.rate ? group.mostPermits : group.permits))
      violate('permits', id, `the ${group.used}th of group ${group.name} is claimed`);
  }

  /** Whether a claim keeps to the largest limits that its process may have known. */
  #judgeLimits({ id, queue, group }: Life, member: Member, sentAt: number, isAgain: boolean): void {
    const { server, punctuality, rateOfQueue, violate } = this.options;
    const { kind } = queue.traits;
    // A claim that no longer counted when the clock was set back is forgotten by the store, but not here.
    const isSure = !punctuality.hasStepped(this.#now);
    if (!isAgain && group?.rate?.take(server.time) === false && isSure)
      violate('rate', id, `is claimed beyond the rate of group ${group.name}`);
    if (kind !== 'rated' && kind !== 'limited') return;
    const { globalConcurrency, rate } = queue.limits.largestFor(member, sentAt);
    if (kind === 'rated' && !isAgain && !rateOfQueue.take(server.time, rate) && isSure)
      violate('rate', id, `is claimed beyond the rate of ${rate}`);
    if (!isAgain && queue.held.size >= globalConcurrency)
      violate('global concurrency', id, `is claimed beside ${queue.held.size} others, of ${globalConcurrency}`);
  }

  transferred({ held }: QueueUse, { recovered, deadLettered }: TransferReport): void {
    if (recovered + deadLettered.length === 0) return;
    const { world, server, journal, ledger, handling, violate } = this.options;
    const { now } = world;
    for (const life of held) {
      const delivery = life.holder!;
      const { member, token, leaseEnd } = delivery;
      if (Math.ceil(leaseEnd + server.time - now) > Math.floor(server.time)) continue;
      ledger.count('leases ended');
      journal.write?.(`${life.id} lease of ${token} has ended`);
      if (!this.#isExcused(delivery)) {
        violate('lease kept', life.id, `${member.process.name} lost it without a cause`);
      }
      ledger.lose(life, 'lease ended');
      life.failedAttempts++;
      life.free(now);
      life.inBacklogSince = now;
      const isDead = deadLettered.includes(life.id);
      handling.judgeTakenBack(life, isDead);
      if (isDead) ledger.endOrFollow(life, 'dead');
    }
  }

  /** True if its process may have failed to extend it in time: it was not well for long enough since the lease began. */
  #isExcused({ member, leaseEnd, assumedEnd, isLeaseUnsure, life }: Delivery): boolean {
    const { lease } = this.options.scenario;
    if (isLeaseUnsure) return true;
    const well = member.longestUnhindered('leases', life.queue.traits.name, leaseEnd - lease, assumedEnd);
    return well < EXTENSION_TIME * lease;
  }

  /** True if its process may not hear in time that it has extended it. */
  #mayMissExtension({ member, assumedEnd, life }: Delivery): boolean {
    const { process, isStopping } = member;
    const latest = assumedEnd - EXTENSION_TIME * this.options.scenario.lease;
    return process.isDead || isStopping || member.unhinderedFrom('leases', life.queue.traits.name) > latest;
  }

  extended(
    { held }: QueueUse,
    claims: readonly Claim[],
    lost: readonly Claim[],
    { lease, sentAt }: Pick<SentClaim, 'lease' | 'sentAt'>,
  ): void {
    const { ledger, violate } = this.options;
    const tokens = new Set(claims.map(({ token }) => token));
    for (const life of held) {
      const delivery = life.holder!;
      const { token, run } = delivery;
      if (!tokens.has(token)) continue;
      // A process may hold an earlier, replaced claim of the same message, too.
      const isSame = (claim: Claim) => claim.id === life.id && claim.token === token;
      if (!claims.some(isSame)) {
        if (run && !run.isOver) violate('held', life.id, 'released by an extension while its handler runs');
        ledger.lose(life, 'released');
        life.free(this.#now);
      } else if (!lost.some(isSame)) {
        delivery.isLeaseUnsure ||= this.#mayMissExtension(delivery);
        delivery.leaseEnd = this.#now + lease;
        delivery.assumedEnd = sentAt + lease;
      }
    }
  }

  settled(member: Member, queue: QueueUse, settlements: readonly Settlement[], report: SettleReport): void {
    const { journal, ledger, keptIds } = this.options;
    const { traits } = queue;
    const { accepted } = report;
    keptIds.settled(queue, settlements, report, (id) => Boolean(ledger.lives.get(id)?.follower));
    const holding = member.holdingOf(traits);
    for (let i = 0; i < settlements.length; i++) {
      const { claim, outcome } = settlements[i]!;
      const { id, token } = claim;
      const life = ledger.lives.get(id);
      if (!life) continue;
      const delivery = holding.find(life, token);
      delivery?.letGo(this.#now);
      journal.digestOf(4, life.number);
      journal.write?.(`${id} settled: ${outcome.kind}, ${accepted[i] ? 'accepted' : 'refused'}, token ${token}`);
      if (accepted[i] && WITH_HISTORY.includes(traits.kind)) this.#judgeHistory(life, delivery, outcome);
      if (accepted[i]) this.#settledOne(life, delivery, outcome);
    }
  }

  /** A message that was handled, and not aborted meanwhile, is gone only once the queue remembers it. */
  #judgeHistory({ id }: Life, delivery: Delivery | undefined, outcome: Outcome): void {
    const isHandled = outcome.kind === 'ack' && outcome.lateBy === undefined;
    if (isHandled && !this.#remembered.delete(id) && !delivery?.mayCountAsAborted)
      this.options.violate('remembered', id, 'gone without an entry in the history');
  }

  #settledOne(life: Life, delivery: Delivery | undefined, outcome: Outcome): void {
    const { server, ledger, handling, repeats } = this.options;
    ledger.count(outcome.kind);
    handling.judgeOutcome(life, delivery, outcome);
    ledger.lose(life, 'settled');
    // The store adds a pause to the body of a message that repeats.
    if ('body' in outcome && outcome.body !== undefined) life.body = delivery?.rule ? undefined : outcome.body;
    if (outcome.kind === 'retry' || outcome.kind === 'dead') life.failedAttempts++;
    if (outcome.kind === 'release') {
      // It keeps its place.
      life.free(this.#now);
      return;
    }
    if (outcome.kind === 'ack' || outcome.kind === 'dead') {
      const next = repeats.ended(life, delivery, outcome);
      if (next !== undefined && life.repeats && !life.follower) {
        ledger.count('occurrences');
        return life.renew(next, this.#now);
      }
      const isExpired = 'lateBy' in outcome && outcome.lateBy !== undefined;
      return ledger.endOrFollow(life, outcome.kind === 'dead' ? 'dead' : isExpired ? 'expired' : 'handled');
    }
    if (outcome.kind !== 'retry' || !life.queue.traits.holds) ledger.releasePermit(life);
    const due = 'at' in outcome ? outcome.at : Math.ceil(server.time + outcome.delay);
    if (outcome.kind === 'again') return life.renew(due, this.#now);
    life.due = due;
    life.free(this.#now);
    life.inBacklogSince = this.#now;
  }

  /** The history of a queue has entries for messages that are about to be settled. */
  remembered(handled: readonly HandledOne[]): void {
    for (const { keptAs } of handled) this.#remembered.add(keptAs);
  }

  get #now(): number {
    return this.options.world.now;
  }
}
