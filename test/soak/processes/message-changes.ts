import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayQueueProducer } from '../../../lib/index.js';
import type { ChangeResult } from '../journal/entries.js';
import type { Journal } from '../journal/journal.js';
import { contentOf } from '../workload/content.js';
import { type MessagePlan, MOST_VERSIONS } from '../workload/message-plan.js';
import { failureOf } from './offer-failure.js';
import type { ProcessSettings } from './process-settings.js';

interface Offered {
  readonly n: number;
  readonly plan: MessagePlan;
  readonly id: string;
}

/** A further offer under the same id. */
interface Again {
  readonly version: number;
  readonly onDuplicate: 'keep' | 'replace';
}

/** The pause before a failed change is tried again, ms. */
const PAUSE = 100;

/** Cancels, reschedules, replaces and renews offered messages as their plans say. */
export class MessageChanges {
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #underWay = new Set<Promise<void>>();

  constructor(
    private readonly settings: ProcessSettings,
    private readonly journal: Journal,
    private readonly producer: DelayQueueProducer,
  ) {}

  schedule(message: Offered): void {
    if (message.plan.change === 'none') return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      const work = this.#changeUntilKnown(message).finally(() => this.#underWay.delete(work));
      this.#underWay.add(work);
    }, message.plan.changeAfter);
    this.#timers.add(timer);
  }

  /** Begins no more changes, and resolves once the outcomes of all are known. */
  async finish(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all(this.#underWay);
  }

  async #changeUntilKnown(message: Offered): Promise<void> {
    const change = {
      none: () => Promise.resolve(),
      cancel: () => this.#untilKnown(() => this.#cancel(message)),
      reschedule: () => this.#untilKnown(() => this.#reschedule(message)),
      replace: () => this.#replace(message),
      renew: () => this.#renew(message),
    }[message.plan.change];
    await change();
  }

  async #untilKnown(change: () => Promise<ChangeResult>): Promise<ChangeResult> {
    for (;;) {
      const result = await change();
      if (result === 'done' || result === 'refused') return result;
      await sleep(PAUSE);
    }
  }

  async #cancel({ n, plan, id }: Offered): Promise<ChangeResult> {
    const { journal } = this;
    void journal.append({ kind: 'cancel', n, at: journal.now() });
    journal.flush();
    const result = await resultOf(this.producer.cancel(plan.queue, id));
    void journal.append({ kind: 'cancelled', n, at: journal.now(), result });
    return result;
  }

  async #reschedule({ n, plan, id }: Offered): Promise<ChangeResult> {
    const { journal } = this;
    void journal.append({ kind: 'reschedule', n, at: journal.now(), delay: plan.changeDelay });
    journal.flush();
    const result = await resultOf(this.producer.reschedule(plan.queue, id, plan.changeDelay));
    void journal.append({ kind: 'rescheduled', n, at: journal.now(), result });
    return result;
  }

  /** Each try has newer content, so that a late one that took effect would show as old content. */
  async #replace(message: Offered): Promise<void> {
    for (let version = 1; version < MOST_VERSIONS; version++) {
      if (await this.#offer(message, { version, onDuplicate: 'replace' })) return;
      await sleep(PAUSE);
    }
  }

  async #renew(message: Offered): Promise<void> {
    const result = await this.#untilKnown(() => this.#cancel(message));
    // It is too late, or an earlier try succeeded after all; nobody can know.
    if (result === 'refused') return;
    while (!(await this.#offer(message, { version: 1, onDuplicate: 'keep' }))) await sleep(PAUSE);
  }

  /** @returns whether the message is known to be in its queue */
  async #offer({ n, plan, id }: Offered, { version, onDuplicate }: Again): Promise<boolean> {
    const { journal } = this;
    const { payload, headers } = contentOf(this.settings.soak, n, version);
    const about = { n, version };
    void journal.append({ kind: 'offer', ...about, at: journal.now(), delay: plan.changeDelay });
    journal.flush();
    try {
      const options = { id, headers, onDuplicate };
      const { dueAt } = await this.producer.offer(plan.queue, payload, plan.changeDelay, options);
      void journal.append({ kind: 'offered', ...about, at: journal.now(), due: journal.since(dueAt.getTime()) });
      return true;
    } catch (error) {
      const kind = failureOf(error) === 'unknown' ? 'offer-unknown' : 'offer-failed';
      void journal.append({ kind, ...about, at: journal.now() });
      return false;
    }
  }
}

async function resultOf(call: Promise<boolean>): Promise<ChangeResult> {
  try {
    return (await call) ? 'done' : 'refused';
  } catch (error) {
    return failureOf(error);
  }
}
