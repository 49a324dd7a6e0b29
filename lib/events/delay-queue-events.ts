import type { MessageFailure } from '../message/message.js';

/** What goes on in the background, and is retried until it works. */
export type BackgroundWork = 'transfer' | 'claim' | 'settle' | 'extend' | 'repair' | 'subscribe' | 'watch-target';

interface OfQueue {
  readonly queue: string;
}

interface OfMessage extends OfQueue {
  readonly id: string;
}

interface OfAttempt extends OfMessage {
  /** 1 for the first. */
  readonly attempt: number;
}

interface Counted extends OfQueue {
  readonly count: number;
}

/** How long something has failed, or had failed, ms. */
interface Lasting {
  readonly lasted: number;
}

interface Failing extends Lasting {
  readonly reason: string;
}

interface OfWork {
  readonly work: BackgroundWork;
  /** None: it is that of the whole process. */
  readonly queue?: string | undefined;
}

interface OfConnection {
  /** What it is for. */
  readonly connection: string;
}

/** Everything there is to tell, by name. Each is told by the part that knows it, when it is certain. */
export interface DelayQueueEvents {
  /** The handler is done, and its message gone. */
  handled: OfAttempt;
  /** The handler asked for its message again. */
  again: OfAttempt;
  /** The handler put its message off; no attempt is spent. */
  deferred: OfAttempt;
  /** A failed attempt is settled, and the message is delayed for the next one. */
  retried: OfAttempt;
  /** The message is a dead letter. */
  dead: OfAttempt;
  /** A handler failed. `retryIn`: ms until the next attempt, none if this was the last one. */
  failed: OfAttempt & { readonly attempts: number; readonly failure: MessageFailure; readonly retryIn?: number };
  /** A body cannot be decoded, so its message dies. */
  unreadable: OfMessage & { readonly failure: MessageFailure };
  /** A handler is done, and its outcome does not count: it no longer holds the message. */
  leaseLost: OfMessage;
  /** Messages fell due and are ready. */
  transferred: Counted;
  /** The leases of messages have ended; some are ready again, the others dead. */
  takenBack: OfQueue & { readonly recovered: number; readonly buried: number };
  /** Dead letters were removed, because there were more than `maxDeadLetters`. */
  dropped: Counted;
  /** Messages went back, because handlers block the event loop and theirs could not start in time. */
  givenBack: Counted;
  /** So many claims in a row were not answered in time; what they took goes back. */
  claimsUnanswered: Counted;
  /** Ready ids without a message were removed. */
  orphansRemoved: Counted;
  /** Messages that were in no state are ready. */
  repaired: OfQueue & { readonly ids: readonly string[] };
  /** An offer was ignored, because a handler of this process holds the message of that id. */
  offeredWhileHeld: OfMessage;
  /** The application's code gave the queue something that it cannot use; what it does instead is in the text. */
  misused: { readonly problem: string };

  /** Told at first, when the reason is another, and once a minute. */
  workFailing: OfWork & Failing;
  workRestored: OfWork & Lasting;
  connectionLost: OfConnection & Failing;
  connectionRestored: OfConnection & Lasting;

  memoryStore: object;
  optionsOverridden: { readonly options: readonly { readonly name: string; readonly because: string }[] };
  /** Redis was not there to be checked. */
  unchecked: { readonly reason: string };
  /** The server does not tell what it is. */
  serverUntold: { readonly reason: string };
  /** The server that the connection came back to cannot serve the queues. */
  serverUnfit: { readonly reason: string };
  handlerStarted: OfQueue & { readonly handler: string };
  /** This process only offers. */
  handlersNotStarted: { readonly handlers: readonly { readonly queue: string; readonly name: string }[] };
  /** Of a shutdown that was too short, how many messages were not settled. */
  unsettled: { readonly count: number };
}

export type EventName = keyof DelayQueueEvents;
