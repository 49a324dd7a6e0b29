import { setTimeout as sleep } from 'node:timers/promises';
import type { DelayQueueProducer } from '../../../lib/index.js';
import type { ChangeResult } from '../journal/entries.js';
import type { Journal } from '../journal/journal.js';
import { contentOf } from '../workload/content.js';
import { type MessagePlan, MAX_VERSIONS } from '../workload/message-plan.js';
import { failureOf } from './offer-failure.js';
import type { ProcessSettings } from './process-settings.js';

interface Offered {
  readonly n: number;
  readonly plan: MessagePlan;
  readonly id: string;
  /** The time at which it was first offered. */
  readonly firstAt: number;
}

/** A further offer under the same id. */
interface Again {
  readonly version: number;
  readonly onDuplicate: 'keep' | 'replace' | 'follow';
  /** ms. */
  readonly maxWait?: number;
}

/** The pause before a failed change is tried again, ms. */
const PAUSE = 100;

/** How often a message is offered again to be debounced. */
const DEBOUNCED = 3;

/** Changes offered messages as their plans say. */
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
      inform: () => this.#inform(message),
      debounce: () => this.#debounce(message),
      follow: () => this.#follow(message),
      abort: () => this.#untilKnown(() => this.#abort(message)),
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

  async #abort({ n, plan, id }: Offered): Promise<ChangeResult> {
    const { journal } = this;
    void journal.append({ kind: 'abort', n, at: journal.now() });
    journal.flush();
    const result = await resultOf(this.producer.abort(plan.queue, id));
    void journal.append({ kind: 'aborted', n, at: journal.now(), result });
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
    for (let version = 1; version < MAX_VERSIONS; version++) {
      if (await this.#offer(message, { version, onDuplicate: 'replace' })) return;
      await sleep(PAUSE);
    }
  }

  /** Like a replacement, if the message is still delayed; otherwise nothing happens. */
  async #inform({ n, plan, id }: Offered): Promise<void> {
    const { journal } = this;
    const { queue, changeDelay: delay } = plan;
    for (let version = 1; version < MAX_VERSIONS; version++) {
      const about = { n, version };
      void journal.append({ kind: 'offer', ...about, at: journal.now(), delay, how: 'change', expiresAfter: null });
      journal.flush();
      const result = await resultOf(
        this.producer.reschedule(queue, id, delay, contentOf(this.settings.soak, n, version)),
      );
      const at = journal.now();
      if (result === 'done') void journal.append({ kind: 'offered', ...about, at, due: null });
      else void journal.append({ kind: result === 'unknown' ? 'offer-unknown' : 'offer-failed', ...about, at });
      if (result === 'done' || result === 'refused') return;
      await sleep(PAUSE);
    }
  }

  /** The first of the chain is the offer that is already there. */
  async #debounce(message: Offered): Promise<void> {
    const maxWait = Math.max(1, Math.round(message.plan.changeDelay / 2));
    let done = 0;
    for (let version = 1; version < MAX_VERSIONS && done < DEBOUNCED; version++) {
      if (await this.#offer(message, { version, onDuplicate: 'replace', maxWait })) done++;
      await sleep(PAUSE);
    }
  }

  /** The handler of the message may work on it right now. Otherwise there is nothing to follow, or nobody to do so. */
  async #follow(message: Offered): Promise<void> {
    for (let version = 1; version < MAX_VERSIONS; version++) {
      if (await this.#offer(message, { version, onDuplicate: 'follow' })) return;
      await sleep(PAUSE);
    }
  }

  async #renew(message: Offered): Promise<void> {
    const result = await this.#untilKnown(() => this.#cancel(message));
    // It is too late, or an earlier try succeeded after all; nobody can know.
    if (result === 'refused') return;
    while (!(await this.#offer(message, { version: 1, onDuplicate: 'keep' }))) await sleep(PAUSE);
  }

  /** @returns whether nothing more is to be done: the message is known to be in its queue, or another one to be in its way */
  async #offer({ n, plan, id, firstAt }: Offered, { version, onDuplicate, maxWait }: Again): Promise<boolean> {
    const { journal } = this;
    const { payload, headers } = contentOf(this.settings.soak, n, version);
    const about = { n, version };
    const at = journal.now();
    const how = onDuplicate === 'follow' ? 'follow' : 'offer';
    const delay = Math.min(plan.changeDelay, maxWait === undefined ? Infinity : firstAt + maxWait - at);
    void journal.append({ kind: 'offer', ...about, at, delay, how, expiresAfter: null });
    journal.flush();
    try {
      const { group } = plan;
      const options = {
        ...{ id, headers, onDuplicate },
        ...(group !== null && { group }),
        ...(maxWait !== undefined && { maxWait }),
      };
      const { dueAt, created, follows } = await this.producer.offer(plan.queue, payload, plan.changeDelay, options);
      const isKept = how === 'follow' && !created && !follows;
      const due = follows ? null : journal.since(dueAt.getTime());
      if (isKept) void journal.append({ kind: 'offer-failed', ...about, at: journal.now() });
      else void journal.append({ kind: 'offered', ...about, at: journal.now(), due });
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
