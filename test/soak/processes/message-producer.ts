import { setTimeout as sleep } from 'node:timers/promises';
import { DelayQueueError, type DelayQueueProducer } from '../../../lib/index.js';
import type { Journal } from '../journal/journal.js';
import { contentOf, idOf, numberIn } from '../workload/content.js';
import { type MessagePlan, planMessage, QUEUE_NAMES, rushAfter } from '../workload/message-plan.js';
import { MessageChanges } from './message-changes.js';
import { failureOf } from './offer-failure.js';
import type { ProcessSettings } from './process-settings.js';

const TICK = 25;
const LARGEST_BATCH = 400;

/** The most offers under way at once: what an outage holds up is offered afterwards, but not all at once. */
const MAX_IN_FLIGHT = 4000;

/** The pause before an offer that failed or has an unknown outcome is repeated, ms. */
const PAUSE = 100;

/** A message on its way into its queue. */
interface Offering {
  readonly n: number;
  readonly plan: MessagePlan;
  /** Undefined if the library generates it. */
  id: string | undefined;
  /** The time at which it was first offered. */
  firstAt?: number;
}

/** Offers messages at an even rate, and repeats each offer under its id until its outcome is known. */
export class MessageProducer {
  readonly #changes: MessageChanges;
  readonly #underWay = new Set<Promise<void>>();
  #inFlight = 0;
  #offered = 0;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly settings: ProcessSettings,
    private readonly journal: Journal,
    private readonly producer: DelayQueueProducer,
  ) {
    this.#changes = new MessageChanges(settings, journal, producer);
  }

  start(): void {
    this.#startedAt = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK);
  }

  /** Makes no new offers, and resolves once the outcomes of all are known. */
  async finish(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    await this.#changes.finish();
  }

  #tick(): void {
    const { rate, producers } = this.settings.soak;
    const owed = Math.floor(((performance.now() - this.#startedAt) / 1000) * (rate / producers)) - this.#offered;
    const offerings = Array.from({ length: Math.min(owed, MAX_IN_FLIGHT - this.#inFlight) }, () => this.#next());
    for (const queue of QUEUE_NAMES) {
      const mine = offerings.filter(({ plan }) => plan.queue === queue);
      const together = mine.filter(({ plan }) => plan.way === 'many');
      for (let at = 0; at < together.length; at += LARGEST_BATCH) {
        this.#track(this.#offerUntilKnown(together.slice(at, at + LARGEST_BATCH)), LARGEST_BATCH);
      }
      for (const alone of mine.filter(({ plan }) => plan.way !== 'many'))
        this.#track(this.#offerUntilKnown([alone]), 1);
    }
  }

  #next(): Offering {
    const n = numberIn(this.settings.index, ++this.#offered);
    const plan = planMessage(this.settings.soak, n);
    return { n, plan, id: plan.way === 'generated-id' ? undefined : idOf(n) };
  }

  #track(work: Promise<void>, weight: number): void {
    this.#inFlight += weight;
    this.#underWay.add(work);
    void work.finally(() => {
      this.#inFlight -= weight;
      this.#underWay.delete(work);
    });
  }

  async #offerUntilKnown(offerings: readonly Offering[]): Promise<void> {
    while (!(await this.#offer(offerings))) await sleep(PAUSE);
    for (const { n, plan, id, firstAt } of offerings) this.#changes.schedule({ n, plan, id: id!, firstAt: firstAt! });
  }

  /** @returns whether the messages are known to be in their queue */
  async #offer(offerings: readonly Offering[]): Promise<boolean> {
    const { journal } = this;
    const at = journal.now();
    for (const offering of offerings) {
      const { n, plan } = offering;
      const { delay, expiresAfter } = plan;
      offering.firstAt ??= at;
      void journal.append({ kind: 'offer', n, version: 0, at, delay, how: 'offer', expiresAfter });
    }
    journal.flush();
    try {
      const results = await this.#send(offerings);
      results.forEach(({ id, dueAt }, i) => {
        const offering = offerings[i]!;
        offering.id = id;
        const due = journal.since(dueAt.getTime());
        void journal.append({ kind: 'offered', n: offering.n, version: 0, at: journal.now(), due });
      });
      return true;
    } catch (error) {
      const kind = failureOf(error) === 'unknown' ? 'offer-unknown' : 'offer-failed';
      for (const offering of offerings) {
        void journal.append({ kind, n: offering.n, version: 0, at: journal.now() });
        // The error carries a generated id, so that the offer can be repeated under it.
        if (error instanceof DelayQueueError) offering.id ??= error.messageId;
      }
      return false;
    }
  }

  async #send(offerings: readonly Offering[]) {
    const [{ n, plan, id }] = offerings as [Offering];
    const { soak } = this.settings;
    if (plan.way === 'many') {
      return this.producer.offerMany(
        plan.queue,
        offerings.map(({ n: number, plan: { delay, group, expiresAfter }, id: ownId }) => ({
          ...contentOf(soak, number),
          ...{ delay, id: ownId! },
          ...(group !== null && { group }),
          ...(expiresAfter !== null && { expiresAfter }),
        })),
      );
    }
    const { payload, headers } = contentOf(soak, n);
    const { group, expiresAfter } = plan;
    const options = {
      headers,
      ...(id !== undefined && { id }),
      ...(group !== null && { group }),
      ...(expiresAfter !== null && { expiresAfter }),
    };
    if (plan.way === 'instant' || plan.way === 'rush') {
      // The instant is meant by the right clock, not by this process' clock.
      const soonest = this.journal.rightTime() + plan.delay;
      const instant = new Date(plan.way === 'rush' ? rushAfter(soonest, soak) : soonest);
      return [await this.producer.offerAt(plan.queue, payload, instant, options)];
    }
    return [await this.producer.offer(plan.queue, payload, plan.delay, options)];
  }
}
