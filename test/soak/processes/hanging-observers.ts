import type { DelayedMessage, DelayQueueObserver, OfferContext } from '../../../lib/index.js';
import { Random } from '../random.js';
import { numbersIn } from '../workload/content.js';
import { planMessage } from '../workload/message-plan.js';
import type { ClaimJournal } from './claim-journal.js';
import type { MessageHandler } from './message-handler.js';
import type { ProcessSettings } from './process-settings.js';

/** How often an offer hangs. */
const OFFERS_THAT_HANG = 0.001;

const never = new Promise<never>(() => undefined);

/** True if the observers of this process hang now and then. */
export function isHanging({ soak, index }: Pick<ProcessSettings, 'soak' | 'index'>): boolean {
  return soak.handlers.includes('hanging') && index % 2 === 1;
}

/** Never calls `next` before the first attempt at some messages, nor for the batches that they are in. */
export class HangingHandling implements DelayQueueObserver {
  constructor(
    private readonly settings: ProcessSettings,
    private readonly handler: MessageHandler,
    private readonly claims: ClaimJournal,
  ) {}

  handle(message: DelayedMessage, next: () => unknown): unknown {
    return this.#lets([message]) ? next() : never;
  }

  handleBatch(messages: readonly DelayedMessage[], next: () => unknown): unknown {
    return this.#lets(messages) ? next() : never;
  }

  #lets(messages: readonly DelayedMessage[]): boolean {
    if (!messages.some((message) => this.#holdsUp(message))) return true;
    for (const message of messages) {
      this.handler.holdUp(message, this.claims.startedBy(message));
    }
    return false;
  }

  #holdsUp({ payload, attempt }: DelayedMessage): boolean {
    const { n } = numbersIn(payload);
    return attempt === 1 && Number.isSafeInteger(n) && planMessage(this.settings.soak, n).manner === 'hangs';
  }
}

/** Never calls `next` for some offers. */
export class HangingOffers implements DelayQueueObserver {
  readonly #random: Random;

  constructor({ soak, index }: Pick<ProcessSettings, 'soak' | 'index'>) {
    this.#random = new Random(soak.seed, index);
  }

  offer(_offers: OfferContext, next: () => Promise<unknown>): unknown {
    return this.#random.chance(OFFERS_THAT_HANG) ? never : next();
  }
}
