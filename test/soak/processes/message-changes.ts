import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayQueueProducer } from '../../../lib/index.js';
import type { ChangeResult } from '../journal/entries.js';
import type { Journal } from '../journal/journal.js';
import { contentOf } from '../workload/content.js';
import type { MessagePlan } from '../workload/message-plan.js';
import { failureOf } from './offer-failure.js';
import type { ProcessSettings } from './process-settings.js';

/** A message that was offered. */
interface Offered {
  readonly n: number;
  readonly plan: MessagePlan;
  readonly id: string;
}

/** How long a change that failed waits before it is tried again, ms. */
const PAUSE = 100;

/** Cancels, reschedules and replaces messages that were offered, as their plans say. */
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

  /** Begins no change any more, and ends when all are known. */
  async finish(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all(this.#underWay);
  }

  async #changeUntilKnown(message: Offered): Promise<void> {
    const change = {
      none: () => Promise.resolve(true),
      cancel: () => this.#cancel(message),
      reschedule: () => this.#reschedule(message),
      replace: () => this.#replace(message),
    }[message.plan.change];
    while (!(await change())) await sleep(PAUSE);
  }

  async #cancel({ n, plan, id }: Offered): Promise<boolean> {
    const { journal } = this;
    void journal.append({ kind: 'cancel', n, at: journal.now() });
    journal.flush();
    const result = await resultOf(this.producer.cancel(plan.queue, id));
    void journal.append({ kind: 'cancelled', n, at: journal.now(), result });
    return isKnown(result);
  }

  async #reschedule({ n, plan, id }: Offered): Promise<boolean> {
    const { journal } = this;
    void journal.append({ kind: 'reschedule', n, at: journal.now(), delay: plan.changeDelay });
    journal.flush();
    const result = await resultOf(this.producer.reschedule(plan.queue, id, plan.changeDelay));
    void journal.append({ kind: 'rescheduled', n, at: journal.now(), result });
    return isKnown(result);
  }

  async #replace({ n, plan, id }: Offered): Promise<boolean> {
    const { journal } = this;
    const { payload, headers } = contentOf(this.settings.soak, n, 1);
    const about = { n, version: 1 };
    void journal.append({ kind: 'offer', ...about, at: journal.now(), delay: plan.changeDelay });
    journal.flush();
    const options = { id, headers, onDuplicate: 'replace' } as const;
    try {
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

function isKnown(result: ChangeResult): boolean {
  return result === 'done' || result === 'refused';
}
