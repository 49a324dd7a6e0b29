import { hasCode } from '../../../lib/message/failure.js';
import type { DelayedMessage } from '../../../lib/index.js';
import type {
  ClaimedMessage,
  ClaimReport,
  ClaimRequest,
  Outcome,
  Settlement,
} from '../../../lib/store/consumer-store.js';
import type { MessageStore } from '../../../lib/store/message-store.js';
import type { SettleResult } from '../journal/entries.js';
import type { Journal } from '../journal/journal.js';
import { numberOf } from '../workload/content.js';

/** A message that this process holds. */
export interface HeldClaim {
  /** The number of the claim in this process. */
  readonly claim: number;
  /** The time at which the claim was first sent. */
  readonly sentAt: number;
  /** The message's number, once the handler has read it from the payload. */
  n?: number;
}

/** What tells which claim of a message its handler was started by. */
export type StartedMessage = Pick<DelayedMessage, 'queue' | 'id' | 'attempt' | 'dueAt'>;

/** Knows by which claim this process holds each message, and records the result of each settle. */
export class ClaimJournal {
  readonly #held = new Map<string, { readonly held: HeldClaim; readonly start: string }>();
  /** By what a handler sees of its message: a process may hold one that was replaced beside the one that replaced it. */
  readonly #startable = new Map<string, HeldClaim>();
  #claims = 0;

  constructor(private readonly journal: Journal) {}

  /** @returns the claim by which a handler that just started holds its message */
  startedBy({ queue, id, attempt, dueAt }: StartedMessage): HeldClaim {
    const held = this.#startable.get(`${queue} ${id} ${attempt} ${dueAt.getTime()}`);
    if (!held) throw new Error(`Message ${id} of ${queue} was never claimed here.`);
    return held;
  }

  listenTo(queue: string, store: MessageStore): MessageStore {
    const claim = store.claim.bind(store);
    const settle = store.settle.bind(store);
    const transferAndClaim = store.transferAndClaim?.bind(store);
    let unanswered: { token: string; sentAt: number } | undefined;
    const sending = ({ token }: ClaimRequest) => {
      // A claim whose answer was lost is sent again under its token.
      unanswered = unanswered?.token === token ? unanswered : { token, sentAt: this.journal.now() };
      return unanswered;
    };
    const answered = ({ messages }: ClaimReport, { token, sentAt }: { token: string; sentAt: number }) => {
      const held = { claim: ++this.#claims, sentAt };
      for (const message of messages) this.#hold(queue, { message, token }, { ...held });
    };
    return Object.assign(store, {
      claim: async (request) => {
        const sent = sending(request);
        const report = await claim(request);
        answered(report, sent);
        return report;
      },
      ...(transferAndClaim && {
        transferAndClaim: async (request, announcer) => {
          const sent = sending(request);
          const both = await transferAndClaim(request, announcer);
          if (both) answered(both.claimed, sent);
          return both;
        },
      }),
      settle: async (settlements) => {
        const sentAt = this.journal.now();
        for (const { claim: held, outcome } of settlements) if (isExpired(outcome)) this.#expire(held.id);
        // The acts of the handlers must be written before anybody can see the outcome.
        this.journal.flush();
        try {
          const report = await settle(settlements);
          settlements.forEach((settlement, i) =>
            this.#settled(queue, settlement, { sentAt, result: report.accepted[i] ? 'accepted' : 'refused' }),
          );
          return report;
        } catch (error) {
          if (hasCode(error, 'OUTCOME_UNKNOWN')) {
            for (const settlement of settlements) this.#settled(queue, settlement, { sentAt, result: 'unknown' });
          }
          throw error;
        }
      },
    } satisfies Pick<MessageStore, 'claim' | 'transferAndClaim' | 'settle'>);
  }

  /** No handler has read the number of the message. */
  #expire(id: string): void {
    const n = numberOf(id);
    if (n !== null) void this.journal.append({ kind: 'expired', n, at: this.journal.now() });
  }

  #hold(queue: string, { message, token }: { message: ClaimedMessage; token: string }, held: HeldClaim): void {
    const { id, failedAttempts, dueAt } = message;
    const start = `${queue} ${id} ${failedAttempts + 1} ${Math.trunc(dueAt)}`;
    this.#held.set(`${queue} ${id} ${token}`, { held, start });
    this.#startable.set(start, held);
  }

  #settled(queue: string, { claim: { id, token }, outcome }: Settlement, answer: Answer): void {
    const key = `${queue} ${id} ${token}`;
    const kept = this.#held.get(key);
    if (!kept) return;
    const { held, start } = kept;
    if (held.n !== undefined) {
      const { n, claim } = held;
      void this.journal.append({ kind: 'settled', n, claim, at: this.journal.now(), outcome: outcome.kind, ...answer });
    }
    if (answer.result === 'unknown') return;
    this.#held.delete(key);
    if (this.#startable.get(start) === held) this.#startable.delete(start);
  }
}

const isExpired = (outcome: Outcome): boolean => outcome.kind === 'ack' && outcome.lateBy !== undefined;

interface Answer {
  readonly sentAt: number;
  readonly result: SettleResult;
}
